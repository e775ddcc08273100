"""Signatures of a loaded SavedModel as functions of JSON values."""

import json
import logging
from collections.abc import Iterator, Mapping
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

from tfmrc.predictors import openvino
from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.inputs import array_of, check_names, status_message
from tfmrc.predictors.exported.versions import newest_version
from tfmrc.predictors.openvino import Runtime
from tfmrc.predictors.process import check_process, this_process
from tfmrc.storage.manifest import EXPORT_FORMAT, EXTRA, SAVED_MODEL, manifest_of, verify_files
from tfmrc.utils.files import check_links


class SavedModel:
    """A SavedModel and its signatures, which are computed one at a time.

    Args:
        path: str or path. Folder of the version, or of the model (then the greatest version is
            taken).
        verify: bool. Whether every file is compared with its digest first, if there are digests: a
            SavedModel that tfmrc did not write has none. Default: True.
        runtime: str. "tensorflow", "openvino" or "auto", as of `tfmrc.load`. Default: "auto".

    Attributes:
        path: The folder of the version.
        card: dict. The model card; empty if there is none.
        signatures: dict. A `SavedSignature` for each name.

    Raises:
        FileNotFoundError: If there is no SavedModel.
        tfmrc.storage.DamagedError: If a file differs from what was written.
        ValueError: If TensorFlow cannot load it, an earlier tfmrc exported it, or `runtime` is
            "openvino" and it was not exported for it.
        RuntimeError: In a process that was forked after a predictor was made or loaded.
    """

    def __init__(
        self, path: str | PathLike[str], *, verify: bool = True, runtime: Runtime = "auto"
    ):
        this_process()  # an error before anything is loaded
        self.path = newest_version(path)
        self.card = _card(self.path)
        if self.card and self.card.get("format") != EXPORT_FORMAT:
            raise ValueError(
                f"{self.path} was exported by another version of tfmrc, with other inputs and "
                "outputs: export it again."
            )
        check_links(self.path)
        if verify and (self.card or manifest_of(self.path) is not None):
            verify_files(self.path)
        on_openvino = openvino.uses_parts(self.path, runtime)
        try:
            with _without_warnings():
                if on_openvino:
                    self._model, functions = openvino.load_parts(self.path)
                else:
                    self._model = tf.saved_model.load(str(self.path))
                    functions = self._model.signatures
        except Exception as error:
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
            for name, function in functions.items()
        }

    def __repr__(self) -> str:
        return f"<SavedModel {self.path}: {', '.join(self.signatures)}>"

    @cached_property
    def signature_defs(self) -> dict[str, Any]:
        """The `SignatureDef` of each signature, as the SavedModel has it."""
        content = (self.path / SAVED_MODEL).read_bytes()
        (graph, *_) = saved_model_pb2.SavedModel.FromString(content).meta_graphs
        return {name: graph.signature_def[name] for name in self.signatures}

    def signature(self, name: str) -> "SavedSignature":
        """Returns a signature.

        Raises:
            RequestError: If there is no such signature (status 404).
        """
        if name not in self.signatures:
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
    """Returns the model card; {} of an export of another library."""
    file = path / EXTRA / "model_card.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
