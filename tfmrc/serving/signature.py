"""A loaded SavedModel's signatures as functions of JSON values."""

import base64
import logging
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  registers the operations of the exported graph

__all__ = ["RequestError", "SavedModel", "SavedSignature", "newest_version", "status_message"]


class RequestError(ValueError):
    """A request that cannot be answered; `status` is the HTTP status to reply with."""

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status


def status_message(error: tf.errors.OpError) -> str:
    """What a failed assertion of the graph says, without the graph's own names around it."""
    found = re.search(r"assertion failed: (.*?)(?:\n\s*\[\[|\Z)", error.message, re.DOTALL)
    return found[1] if found else error.message


def newest_version(path: str | PathLike[str]) -> Path:
    """The version's folder: the path itself, or the greatest number below it.

    Raises:
        FileNotFoundError: if there is no SavedModel.
    """
    path = Path(path)
    if (path / "saved_model.pb").is_file():
        return path
    versions = [
        p for p in path.glob("*/") if p.name.isdecimal() and (p / "saved_model.pb").is_file()
    ]
    if not versions:
        raise FileNotFoundError(
            f"There is no SavedModel in {path}, nor in a numbered folder below it. "
            "Make one with `MasquePredictor.export`."
        )
    return max(versions, key=lambda p: int(p.name))


class SavedModel:
    """A SavedModel and its signatures, which are computed one at a time.

    Args:
        path: folder of the version, or of the model (then the greatest version is taken).

    Raises:
        FileNotFoundError: if there is no SavedModel.
    """

    def __init__(self, path: str | PathLike[str]):
        self.path = newest_version(path)
        with _without_warnings():
            self._model = tf.saved_model.load(str(self.path))
        lock = threading.Lock()  # one request at a time: each already uses all cores
        self.signatures = {
            name: SavedSignature(function, lock)
            for name, function in self._model.signatures.items()
        }

    def __repr__(self) -> str:
        return f"<SavedModel {self.path}: {', '.join(self.signatures)}>"


class SavedSignature:
    """A signature of a SavedModel, fed with nested lists.

    Args:
        function: the signature as it is loaded.
        lock: held while it computes.
    """

    def __init__(self, function: Any, lock: threading.Lock):
        self._function = function
        self._lock = lock
        self.inputs: dict[str, tf.TensorSpec] = function.structured_input_signature[1]
        self.outputs: dict[str, tf.TensorSpec] = function.structured_outputs

    def __repr__(self) -> str:
        return f"<SavedSignature of {', '.join(self.inputs)}>"

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Runs the signature on nested lists.

        Raises:
            RequestError: if inputs are missing, unknown, of a wrong shape or type, or if the
                graph refuses them.
        """
        unknown, missing = set(inputs) - set(self.inputs), set(self.inputs) - set(inputs)
        if unknown or missing:
            raise RequestError(
                f"This signature takes {', '.join(sorted(self.inputs))}. "
                f"Received: {', '.join(sorted(inputs)) or 'none'}"
            )
        tensors = {name: _tensor(inputs[name], spec, name) for name, spec in self.inputs.items()}
        try:
            with self._lock:
                outputs = self._function(**tensors)
        except tf.errors.InvalidArgumentError as error:
            raise RequestError(status_message(error)) from error
        return {name: value.numpy() for name, value in outputs.items()}


@contextmanager
def _without_warnings() -> Iterator[None]:
    """TensorFlow warns that gradients were not saved; an export answers and never learns."""
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _tensor(value: Any, spec: tf.TensorSpec, name: str) -> tf.Tensor:
    if spec.dtype == tf.string:
        value = _strings(value, spec.shape.rank, f"`{name}` must be {spec.shape.rank} lists deep")
    try:
        array = np.array(
            value, dtype=object if spec.dtype == tf.string else spec.dtype.as_numpy_dtype
        )
        if spec.dtype == tf.string and array.ndim < spec.shape.rank:  # nothing but empty lists
            array = array.reshape(array.shape + (0,) * (spec.shape.rank - array.ndim))
        tensor = tf.constant(array, spec.dtype)
    except (TypeError, ValueError) as error:
        raise RequestError(f"`{name}` is not a {spec.dtype.name} tensor: {error}") from error
    if not spec.shape.is_compatible_with(tensor.shape):
        raise RequestError(f"`{name}` must have the shape {spec.shape}. Received: {tensor.shape}")
    return tensor


def _strings(value: Any, rank: int, wanted: str) -> Any:
    """Nested lists of bytes; rows of the last axis are filled up with empty strings."""
    if rank == 0:
        if isinstance(value, dict) and set(value) == {"b64"}:
            try:
                return base64.b64decode(value["b64"], validate=True)
            except (TypeError, ValueError) as error:
                raise RequestError(f"Invalid base64: {error}. Received: {value!r:.80}") from error
        if not isinstance(value, str):
            raise RequestError(f"{wanted} and hold strings. Received: {value!r:.80}")
        return value.encode("utf-8", "replace")
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise RequestError(f"{wanted} and hold strings. Received: {value!r:.80}")
    rows = [_strings(item, rank - 1, wanted) for item in value]
    if rank == 2:
        width = max((len(row) for row in rows), default=0)
        rows = [row + [b""] * (width - len(row)) for row in rows]
    return rows
