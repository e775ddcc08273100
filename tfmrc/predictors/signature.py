"""Signatures of a loaded SavedModel as functions of JSON values."""

import base64
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  registers the operations of the exported graph
from tensorflow.core.protobuf import saved_model_pb2

from tfmrc.predictors.errors import RequestError
from tfmrc.predictors.inputs import check_names, cut_passages, status_message
from tfmrc.predictors.model_config import ModelConfig, find_models
from tfmrc.predictors.process import check_process, this_process
from tfmrc.storage.manifest import EXPORT_FORMAT, manifest_of, verify_files
from tfmrc.utils.files import check_links

__all__ = ["SavedModel", "SavedSignature", "newest_version"]


#: One long row lengthens all others; without a limit a small request could take all memory.
MAX_ELEMENTS = 2**22

#: Exceptions that TensorFlow raises for damaged or unknown files.
LOADING_ERRORS = (
    tf.errors.OpError,
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


def newest_version(path: str | PathLike[str]) -> Path:
    """Returns the version's folder: the path itself, or the greatest number below it.

    Raises:
        FileNotFoundError: If there is no SavedModel; names those of a folder of models.
    """
    path = Path(path)
    versions = list(ModelConfig("model", path).found().values())
    if not versions:
        models = [str(model.path) for model in find_models(path)] if path.is_dir() else []
        raise FileNotFoundError(
            f"There is no SavedModel in {path}, nor in a numbered folder below it. "
            + (
                f"SavedModels below it: {', '.join(models)}."
                if models
                else "Make one with `tfmrc.Predictor.export`."
            )
        )
    return versions[0]


class SavedModel:
    """A SavedModel and its signatures, which are computed one at a time.

    Args:
        path: str or path. Folder of the version, or of the model (then the greatest version is
            taken).
        verify: bool. Whether every file is compared with its digest first, if there are digests: a
            SavedModel that tfmrc did not write has none. Default: True.

    Attributes:
        path: The folder of the version.
        card: dict. The model card; empty if there is none.
        signatures: dict. A `SavedSignature` for each name.

    Raises:
        FileNotFoundError: If there is no SavedModel.
        tfmrc.storage.DamagedError: If a file differs from what was written.
        ValueError: If TensorFlow cannot load it, or an earlier tfmrc exported it.
        RuntimeError: In a process that was forked after a predictor was made or loaded.
    """

    def __init__(self, path: str | PathLike[str], *, verify: bool = True):
        this_process()  # an error before anything is loaded
        self.path = newest_version(path)
        self.card = _card(self.path)
        if self.card and self.card.get("format") != EXPORT_FORMAT:
            raise ValueError(
                f"{self.path} was exported by another tfmrc, with other inputs and outputs: export "
                "it again."
            )
        check_links(self.path)
        if verify and (self.card or manifest_of(self.path) is not None):
            verify_files(self.path)
        try:
            with _without_warnings():
                self._model = tf.saved_model.load(str(self.path))
        except LOADING_ERRORS as error:
            raise ValueError(
                f"{self.path} cannot be loaded as a SavedModel; it is damaged, or uses operations "
                f"that are not installed: {error}"
            ) from error
        # One request at a time, because each uses all cores; and always in the same thread, because
        # TensorFlow caches prepared functions per thread, and preparing the graph takes seconds.
        worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tfmrc-saved-model")
        max_passages = self.card.get("max_passages")
        self.signatures = {
            name: SavedSignature(function, worker, max_passages)
            for name, function in self._model.signatures.items()
        }

    def __repr__(self) -> str:
        return f"<SavedModel {self.path}: {', '.join(self.signatures)}>"

    @cached_property
    def signature_defs(self) -> dict[str, Any]:
        """The `SignatureDef` of each signature, as the SavedModel has it."""
        content = (self.path / "saved_model.pb").read_bytes()
        (graph, *_) = saved_model_pb2.SavedModel.FromString(content).meta_graphs
        return {name: graph.signature_def[name] for name in self.signatures}

    def signature(self, name: str) -> "SavedSignature":
        """Returns a signature.

        Raises:
            RequestError: If there is no such signature (status 404).
        """
        if not isinstance(name, str) or name not in self.signatures:
            names = ", ".join(self.signatures)
            raise RequestError(f"The signatures are {names}. Received: {name!r:.80}", 404)
        return self.signatures[name]


class SavedSignature:
    """A signature of a SavedModel, fed with nested lists.

    Args:
        function: The signature as it is loaded.
        worker: `Executor`. Executor of one thread that computes it.
        max_passages: int or None. Number of passages to which rows are cut before padding, so that
            one long row does not lengthen all others. Default: None.
    """

    def __init__(self, function: Any, worker: Executor, max_passages: int | None = None):
        self._function = function
        self._worker = worker
        self._max_passages = max_passages
        self._process = this_process()
        self.inputs: dict[str, tf.TensorSpec] = function.structured_input_signature[1]
        self.outputs: dict[str, tf.TensorSpec] = function.structured_outputs

    def __repr__(self) -> str:
        return f"<SavedSignature of {', '.join(self.inputs)}>"

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Runs the signature on nested lists.

        Raises:
            RequestError: If inputs are missing, unknown, of a wrong shape or type, or the graph
                refuses them.
            RuntimeError: In a process that was forked after the SavedModel was loaded.
        """
        check_process(self._process)
        return self._worker.submit(self.run, self.arrays(inputs)).result()

    def arrays(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Returns nested lists or arrays as the arrays of the inputs, strings as bytes.

        Rows of strings are cut to the model's number of passages and padded with empty strings.

        Args:
            inputs: dict. For each input nested lists of JSON values, or an array.

        Raises:
            RequestError: If inputs are missing, unknown, or of a wrong shape or type.
        """
        try:
            check_names("This signature", inputs, self.inputs)
        except ValueError as error:
            raise RequestError(str(error)) from error
        return {
            name: array_of(inputs[name], spec, name, self._max_passages)
            for name, spec in self.inputs.items()
        }

    def run(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Computes the signature in the calling thread.

        Args:
            arrays: dict. The arrays of all inputs.

        Raises:
            RequestError: If the graph refuses them.
        """
        tensors = {
            name: tf.constant(arrays[name], spec.dtype) for name, spec in self.inputs.items()
        }
        try:
            outputs = self._function(**tensors)
        except tf.errors.InvalidArgumentError as error:
            raise RequestError(status_message(error)) from error
        return {name: value.numpy() for name, value in outputs.items()}


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Silences the warning that gradients were not saved: an export is not trained."""
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _card(path: Path) -> dict[str, Any]:
    try:
        card = json.loads((path / "assets.extra" / "model_card.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # an export of another library
        return {}
    return card if isinstance(card, dict) else {}


def array_of(
    value: Any, spec: tf.TensorSpec, name: str, max_passages: int | None = None
) -> np.ndarray:
    """Returns an input of a request as an array of its type.

    Args:
        value: nested lists of strings, of `{"b64": ...}` or of integers, or an array.
        spec: `tf.TensorSpec`. The input.
        name: str. Its name, for messages.
        max_passages: int or None. Passages that the model reads. Default: None.

    Raises:
        RequestError: If the value has another type or shape.
    """
    text = spec.dtype == tf.string
    row = "a string" if spec.shape.rank == 1 else "a list of strings"
    expected = f"`{name}` must hold {row} per row, and a column (`inputs`) is a list of rows"
    try:
        if isinstance(value, np.ndarray):
            if (value.dtype == object) != text or not (
                text or np.can_cast(value.dtype, spec.dtype.as_numpy_dtype)
            ):
                raise ValueError(f"it holds {value.dtype}")
            if text and value.ndim == spec.shape.rank == 2:
                value = _strings(value.tolist(), 2, expected, max_passages)
        elif text:
            value = _strings(value, spec.shape.rank, expected, max_passages)
        elif spec.dtype.is_integer:
            _check_integers(value, spec.shape.rank, name)
        array = np.array(value, dtype=object if text else spec.dtype.as_numpy_dtype)
    except RequestError:
        raise
    except (OverflowError, TypeError, ValueError) as error:
        raise RequestError(f"`{name}` is not a {spec.dtype.name} tensor: {error}") from error
    if text and array.ndim < (spec.shape.rank or 0) and not array.size:  # only empty lists
        array = array.reshape(array.shape + (0,) * (spec.shape.rank - array.ndim))
    if not spec.shape.is_compatible_with(array.shape):
        raise RequestError(f"`{name}` must have the shape {spec.shape}. Received: {array.shape}")
    return array


def _check_integers(value: Any, rank: int, name: str) -> None:
    """Raises a RequestError if nested lists hold anything but integers; NumPy would convert it."""
    if rank and isinstance(value, list | tuple):
        for item in value:
            _check_integers(item, rank - 1, name)
    elif rank or not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise RequestError(f"`{name}` must hold an integer per row. Received: {value!r:.80}")


def _strings(value: Any, rank: int, expected: str, most: int | None) -> Any:
    """Returns nested lists of bytes; rows of the last axis are padded with empty strings."""
    if rank == 0:
        if isinstance(value, dict) and set(value) == {"b64"}:
            try:
                return base64.b64decode(value["b64"], validate=True)
            except (TypeError, ValueError) as error:
                raise RequestError(f"Invalid base64: {error}. Received: {value!r:.80}") from error
        if isinstance(value, bytes):
            return value
        if not isinstance(value, str):
            raise RequestError(f"{expected}. Received: {value!r:.80}")
        return value.encode("utf-8", "replace")
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise RequestError(f"{expected}. Received: {value!r:.80}")
    rows = [_strings(item, rank - 1, expected, most) for item in value]
    if rank == 2:
        rows = [list(cut_passages(row, most)) for row in rows]
        width = max((len(row) for row in rows), default=0)
        if width * len(rows) > MAX_ELEMENTS:
            raise RequestError(
                f"{expected.split(' must')[0]} must have at most {MAX_ELEMENTS:,} elements, padded "
                f"to its longest row. Received: {len(rows):,} rows of {width:,}",
                413,
            )
        rows = [row + [b""] * (width - len(row)) for row in rows]
    return rows
