"""Computes simultaneous requests together."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from tfmrc.predictors.errors import RequestError
from tfmrc.serving.limits import Limits

__all__ = ["Batcher"]

Arrays = dict[str, np.ndarray]

#: Outputs with a column for each word or candidate, by the output that tells the count per row.
RAGGED = {
    "num_words": (
        (
            "words",
            "sources",
            "source_texts",
            "word_passages",
            "word_starts",
            "word_ends",
            "mixture",
        ),
        lambda counts: counts,
    ),
    "answer_starts": (
        (
            "answers",
            "answer_starts",
            "questions",
            "probabilities",
            "log_probabilities",
            "finished",
            "truncated",
        ),
        lambda starts: (starts >= 0).sum(axis=1),
    ),
}


class Batcher:
    """Computes the requests of one model in batches, in a thread of its own.

    Requests for the same signature that wait while another batch is computed are concatenated,
    computed, and cut apart. Ragged rows of strings are padded with empty strings, which mean a
    missing passage. The answer to a request is that of the request alone: outputs with a column per
    word or candidate are cut to the longest of the request's own rows. If the graph refuses a
    batch, its halves are computed, so that a request with an error has no effect on the others.

    A signature is batched only if this holds for all of its outputs (see `is_batchable`); requests
    for other signatures are computed one by one.

    Args:
        signatures: dict. For each name a `tfmrc.predictors.signature.SavedSignature`.
        limits: `Limits` or None. Its `batch_rows` and `waiting_rows` are used. Default: None.
        merge: bool. Whether requests may be batched at all. Default: True.
        on_batch: callable or None. Called with the number of examples of each computed batch.
            Default: None.
    """

    def __init__(
        self,
        signatures: Mapping[str, Any],
        limits: Limits | None = None,
        *,
        merge: bool = True,
        on_batch: Callable[[int], None] | None = None,
    ):
        self._limits = limits or Limits()
        self._signatures = dict(signatures)
        self._batchable = {
            name: merge and is_batchable(signature) for name, signature in signatures.items()
        }
        self._on_batch = on_batch or (lambda rows: None)
        self._waiting: deque[_Request] = deque()
        self._condition = threading.Condition()
        self._closed = False
        threading.Thread(target=self._work, name="tfmrc-batches", daemon=True).start()

    def submit(self, signature: str, arrays: Arrays) -> "Future[Arrays]":
        """Enqueues a request.

        Args:
            signature: str. Name of the signature.
            arrays: dict. The arrays of its inputs.

        Returns:
            A future of the output arrays. A request that is cancelled before its batch begins is
            not computed.

        Raises:
            RequestError: If the queue is full, or the batcher is closed (status 503).
        """
        request = _Request(signature, arrays, self._batchable[signature])
        with self._condition:
            if self._closed:
                raise RequestError("The model is being unloaded.", 503)
            rows = sum(waiting.rows for waiting in self._waiting)
            if rows and rows + request.rows > self._limits.waiting_rows:
                raise RequestError(
                    f"The queue of the model is full ({rows:,} examples wait). Repeat the request "
                    "later.",
                    503,
                )
            self._waiting.append(request)
            self._condition.notify()
        return request.future

    def close(self) -> None:
        """Computes what is waiting, and then ends the thread; returns at once."""
        with self._condition:
            self._closed = True
            self._condition.notify()

    def _work(self) -> None:
        while batch := self._next():
            running = [
                request for request in batch if request.future.set_running_or_notify_cancel()
            ]
            if running:
                self._compute(running)
            del batch, running  # a waiting thread holds no texts

    def _next(self) -> "list[_Request]":
        """Returns the first request and those that fit into its batch, in order; [] at the end."""
        with self._condition:
            self._condition.wait_for(lambda: self._waiting or self._closed)
            batch: list[_Request] = []
            others: list[_Request] = []
            rows = 0
            for request in self._waiting:
                fits = not batch or (
                    request.batchable
                    and request.key == batch[0].key
                    and rows + request.rows <= self._limits.batch_rows
                )
                (batch if fits else others).append(request)
                rows += request.rows if fits else 0
            self._waiting = deque(others)
            return batch

    def _compute(self, batch: "Sequence[_Request]") -> None:
        """Computes a batch and sets the results of its futures."""
        try:
            arrays = batch[0].arrays if len(batch) == 1 else _joined(batch)
            outputs = self._signatures[batch[0].signature].run(arrays)
            parts = _parts(outputs, batch) if batch[0].batchable else [outputs]
        except Exception as error:
            if len(batch) == 1:
                batch[0].future.set_exception(error)
                return
            half = len(batch) // 2
            self._compute(batch[:half])
            self._compute(batch[half:])
            return
        self._on_batch(sum(request.rows for request in batch))
        for request, part in zip(batch, parts, strict=True):
            request.future.set_result(part)


class _Request:
    def __init__(self, signature: str, arrays: Arrays, batchable: bool):
        self.signature = signature
        self.arrays = arrays
        sizes = {len(array) if array.ndim else 0 for array in arrays.values()}
        self.rows = max(sizes, default=0)
        # With different numbers of rows it is an error, which the graph explains.
        self.batchable = batchable and len(sizes) == 1 and self.rows > 0
        # Rows of numbers are not padded: only requests with equal sizes are joined.
        self.key = (
            signature,
            self.batchable,
            tuple(() if a.dtype == object else a.shape[1:] for a in arrays.values()),
        )
        self.future: Future[Arrays] = Future()


def is_batchable(signature: Any) -> bool:
    """Returns True if the requests for a signature can be joined and its outputs cut apart.

    All inputs must be vectors, or matrices, with a free number of rows; all outputs must have a
    free number of rows and otherwise fixed sizes, except for the columns of words and candidates.

    Args:
        signature: A `tfmrc.predictors.signature.SavedSignature`.
    """
    ragged = {
        output
        for name, (outputs, _) in RAGGED.items()
        if name in signature.outputs
        for output in outputs
    }

    def has_free_rows(spec: Any) -> bool:
        return bool(spec.shape.rank) and spec.shape[0] is None

    return all(
        has_free_rows(spec) and spec.shape.rank <= 2 for spec in signature.inputs.values()
    ) and all(
        has_free_rows(spec) and None not in tuple(spec.shape)[2 if name in ragged else 1 :]
        for name, spec in signature.outputs.items()
    )


def _joined(batch: Sequence[_Request]) -> Arrays:
    return {
        name: _concatenated([request.arrays[name] for request in batch]) for name in batch[0].arrays
    }


def _concatenated(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Returns arrays as one; rows of strings are padded with empty strings."""
    if arrays[0].dtype == object and arrays[0].ndim == 2:
        width = max(array.shape[1] for array in arrays)
        padded = np.full((sum(map(len, arrays)), width), b"", dtype=object)
        row = 0
        for array in arrays:
            padded[row : row + len(array), : array.shape[1]] = array
            row += len(array)
        return padded
    return np.concatenate(arrays)


def _parts(outputs: Arrays, batch: Sequence[_Request]) -> list[Arrays]:
    """Returns the outputs of each request of a batch, as the request alone has them."""
    parts, row = [], 0
    for request in batch:
        part = {name: values[row : row + request.rows] for name, values in outputs.items()}
        row += request.rows
        for name, (ragged, count) in RAGGED.items():
            if name in part:
                most = int(count(part[name]).max(initial=0))
                part |= {key: part[key][:, :most] for key in ragged if key in part}
        parts.append(part)
    return parts
