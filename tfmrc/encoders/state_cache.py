"""States of a frozen encoder, kept on disk while a model is trained."""

import hashlib
import json
import sqlite3
import sys
import threading
import time
import zlib
from os import PathLike
from pathlib import Path
from typing import Any, Self

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from tfmrc.encoders.layer_of import layer_of

__all__ = ["StateCache"]

WAIT = 3600  # seconds for other runs that write


class StateCache:
    """Keeps what a frozen encoder gives for each window of subwords in a file.

    Inside the block every model that is built on the encoder takes its states from the file, and
    only new windows are computed, once. The states are the same to rounding: a window is computed
    among others than before. The file is a database of SQLite, named after the encoder's weights
    and dtype, so that another encoder gets another one; an interruption loses at most one batch,
    and a damaged entry is computed again. If the disk is full, or the folder cannot be written, new
    windows are not kept.

    A traced function, such as the training step of a compiled model, keeps the way that it was
    traced with: enter the block before `fit`, and do not change the encoder's weights inside it.
    A function that was traced inside the block computes all states anew after it.

    Each window takes 4 bytes per subword and feature (a window of 160 subwords of MiniLM 240 KiB),
    times the number of layers and one with `layers="mix"`.

    Args:
        encoder: Result of `tfmrc.encoders.from_preset`, or its layer. It must be frozen
            (`trainable_layers="none"`, or `layer.trainable = False`).
        folder: str or path. Folder of the files. It is created.

    Raises:
        ValueError: On entry, if a layer of the encoder is trained, the backend is not TensorFlow,
            or the file is no database.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from tfmrc import encoders
        >>> encoder = encoders.from_vocabulary(["owl"], trainable_layers="none").layer
        >>> ids = np.array([[[2, 4, 3, 0]], [[2, 4, 3, 0]]])
        >>> states = encoder(ids)
        >>> with encoders.StateCache(encoder, tempfile.mkdtemp()) as cache:
        ...     again = encoder(ids), encoder(ids)
        >>> cache.computed, cache.found, bool(np.allclose(again, states, atol=1e-5))
        (1, 3, True)
    """

    def __init__(self, encoder: Any, folder: str | PathLike[str]):
        self.layer = layer_of(encoder)
        self.folder = Path(folder)
        self.found = self.computed = 0  # windows
        self._lock = threading.Lock()
        self._keeps = True
        self._database: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        if keras.backend.backend() != "tensorflow":
            raise ValueError(
                "States are kept on disk by TensorFlow only. "
                f"Received: backend={keras.backend.backend()!r}"
            )
        if self.layer.trainable and self.layer.num_trainable_layers:
            raise ValueError(
                "Only a frozen encoder always gives the same states: trainable_layers='none'. "
                f"Received: trainable_layers={self.layer.trainable_layers!r}"
            )
        self._dtype = np.dtype(tf.as_dtype(self.layer.compute_dtype).as_numpy_dtype)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / f"{_digest_of(self.layer)}.sqlite"
        try:
            self._database = sqlite3.connect(self.path, timeout=WAIT, check_same_thread=False)
            _prepare(self._database)
        except sqlite3.OperationalError as error:  # a full disk, or a folder that is read only
            self._stop_keeping(error)
        except sqlite3.DatabaseError as error:
            self._close()
            raise ValueError(
                f"This is no file of an encoder's states; delete it: {error}. Received: {self.path}"
            ) from error
        self.layer.state_cache = self
        return self

    def __exit__(self, *_: object) -> None:
        self.layer.state_cache = None
        self._close()

    def _close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database = None

    def read(self, ids: Any, segments: Any) -> list[Any]:
        """Returns what `BackboneEncoder.compute` returns, as an operation of a graph.

        Args:
            ids: int `[R, P]`. Windows of subwords.
            segments: int `[R, P]` or None. Their segments.
        """
        states = tf.numpy_function(
            self._states,
            [ids, ops.zeros_like(ids) if segments is None else segments],
            self.layer.compute_dtype,
        )
        states.set_shape([self._num_outputs, None, None, self.layer.dim])
        return list(tf.unstack(states))

    def _states(self, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
        """Returns the states `[layers, R, P, dim]` of windows, zeros at padding behind them."""
        lengths = _lengths(ids != self.layer.pad_id)
        keys = [
            hashlib.blake2b(np.array([i[:n], s[:n]], np.int32).tobytes(), digest_size=16).digest()
            for i, s, n in zip(ids, segments, lengths, strict=True)
        ]
        with self._lock:
            known = {key: data for key in dict.fromkeys(keys) if (data := self._find(key))}
            new = {key: row for row, key in enumerate(keys) if key not in known}
            self.computed += len(new)
            self.found += len(keys) - len(new)
            if new:
                rows = list(new.values())
                for states, (key, row) in zip(
                    self._compute(ids[rows], segments[rows]), new.items(), strict=True
                ):
                    known[key] = states[:, : lengths[row]].tobytes()
                self._keep({key: known[key] for key in new})
        result = np.zeros([self._num_outputs, *ids.shape, self.layer.dim], self._dtype)
        for row, (key, length) in enumerate(zip(keys, lengths, strict=True)):
            kept = np.frombuffer(known[key], self._dtype)
            result[:, row, :length] = kept.reshape(-1, length, self.layer.dim)
        return result

    @property
    def _num_outputs(self) -> int:
        return self.layer.num_layers + 1 if self.layer.output_layers == "mix" else 1

    def _compute(self, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
        """Returns `[R, layers, P, dim]`."""
        with tf.init_scope():  # eager: a graph here would wait for threads that wait for it
            given = tf.constant(ids), tf.constant(segments)
            outputs = self.layer.compute(*given, given[0] != self.layer.pad_id, False)
        return np.stack([output.numpy() for output in outputs], axis=1)

    def _find(self, key: bytes) -> bytes | None:
        if self._database is None:  # asked by a function that was traced inside the block
            return None
        query = "SELECT sum, data FROM states WHERE window = ?"
        try:
            row = self._database.execute(query, (key,)).fetchone()
        except sqlite3.DatabaseError:  # a damaged page: computed again, but not kept
            return None
        return row[1] if row is not None and zlib.crc32(row[1]) == row[0] else None

    def _keep(self, states: dict[bytes, bytes]) -> None:
        if not self._keeps or self._database is None:
            return
        rows = [(key, zlib.crc32(data), data) for key, data in states.items()]
        try:
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", rows)
        except sqlite3.DatabaseError as error:
            self._stop_keeping(error)

    def _stop_keeping(self, error: Exception) -> None:
        self._keeps = False
        print(f"{self.path}: new states are not kept: {error}", file=sys.stderr, flush=True)


def _prepare(database: sqlite3.Connection) -> None:
    """Makes a file a database of states, which other runs may do at the same time."""
    end = time.monotonic() + WAIT
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:  # SQLite does not always wait for this
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.1)
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(
        "CREATE TABLE IF NOT EXISTS states (window BLOB PRIMARY KEY, sum INTEGER, data BLOB)"
    )


def _lengths(real: np.ndarray) -> list[int]:
    """Returns the number of subwords up to the last real one of each row, at least 1."""
    size = real.shape[1]
    last = size - np.argmax(real[:, ::-1], axis=1)
    return [int(n) for n in np.where(real.any(axis=1), last, 1)]


def _digest_of(layer: Any) -> str:
    """Returns a digest of all that determines an encoder's states."""
    names = ("family", "backbone", "pad_id", "layers", "activation", "epsilon")
    config = {name: value for name, value in layer.get_config().items() if name in names}
    digest = hashlib.sha256(json.dumps([config, layer.compute_dtype], sort_keys=True).encode())
    for weight in layer.backbone.weights:
        digest.update(np.ascontiguousarray(ops.convert_to_numpy(weight)).tobytes())
    return digest.hexdigest()[:16]
