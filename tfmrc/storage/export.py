"""Exports a predictor as a SavedModel that takes plain strings and needs no Python."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.ops.portable import portable
from tfmrc.storage.folders import check_target, new_folder
from tfmrc.storage.manifest import SAVED_MODEL
from tfmrc.storage.model_card import write_model_card
from tfmrc.storage.protocols import ExportablePredictor
from tfmrc.storage.warmup import write_warmup_requests
from tfmrc.utils.files import user_path, version_of
from tfmrc.utils.keras_private import all_sublayers

PYTHON_OPERATIONS = frozenset(
    ["PyFunc", "PyFuncStateless", "EagerPyFunc", "NumpyFunction", "GeneratorDataset"]
)


def export_saved_model(
    predictor: ExportablePredictor,
    path: str | PathLike[str],
    options: Any,
    *,
    metrics: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    write_more: Callable[[Path], None] | None = None,
) -> Path:
    """Writes a predictor as a SavedModel in `<name>/<version>/`, as TensorFlow Serving reads it.

    The signatures are those of `predictor.export_signatures(options)`, calibrated. The SavedModel
    includes the vocabulary, the lookup tables and the current weights of the model. `assets.extra`
    has requests that TensorFlow Serving runs at start-up, a model card as JSON and Markdown, the
    metrics, and a digest of every file (`tfmrc.storage.verify`).

    The folder is written under a temporary name and then renamed, so a server that watches it never
    reads an incomplete model.

    Args:
        predictor: A `tfmrc.Predictor`.
        path: str or path. `<folder>/<name>/<version>`; the version is a number.
        options: An instance of the predictor's `options_class`; fixed in the export.
        metrics: dict or None. Measured results, any JSON value. Default: None.
        overwrite: bool. Whether a version that exists is replaced. Default: False.
        write_more: callable or None. Function of the incomplete folder that adds files to it.
            Default: None.

    Returns:
        The version's folder.

    Raises:
        ValueError: If the path does not end in a number below 2**63, or the graph calls Python.
        AssertionError: If the graph uses a variable or a table that is not an attribute of a layer,
            the preprocessor or the predictor.
        FileExistsError: If the version exists and `overwrite` is False, or it is a link, a file or
            a folder that is not an export.
        OSError: If the disk is full, or the file system fails otherwise.
    """
    path = user_path(path).absolute()
    if version_of(path.name) is None:
        raise ValueError(
            "An export's path must end in a version number, as in savedmodels/masque/1: "
            f"TensorFlow Serving takes the greatest. Received: path={str(path)!r}"
        )
    path = check_target(path, _is_export)
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{path} exists. Export to a greater version number, or replace it: `--overwrite` on "
            f"the command line, overwrite=True in Python. Received: overwrite={overwrite}"
        )

    signatures = predictor.with_confidence(predictor.export_signatures(options), options)
    with portable():  # a graph that leaves the process runs on every device
        concrete = {name: each.get_concrete_function() for name, each in signatures.items()}
    for traced in concrete.values():
        forbidden = python_operations(traced.graph.as_graph_def())
        if forbidden:
            raise ValueError(
                "The graph calls Python, which a server does not have: use TensorFlow operations "
                f"instead. Received: operations={forbidden}"
            )
    module = tf.Module(name="predictor")
    module.weights = [getattr(v, "value", v) for v in predictor.model.variables]
    module.preprocessor = predictor.preprocessor
    module.resources = _resources([predictor, *all_sublayers(predictor.model)])

    size = sum(v.dtype.size * (v.shape.num_elements() or 1) for v in module.weights)
    with new_folder(path, size, replace=overwrite) as part:
        # An export is not trained; and the custom gradient of a while loop cannot be saved.
        saving = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
        try:
            tf.saved_model.save(module, str(part), signatures=concrete, options=saving)
        except tf.errors.OpError as error:  # of TensorFlow's files, such as a full disk
            raise OSError(f"{path} cannot be written: {error.message}") from error
        request = predictor.warmup_request()
        inputs = concrete["serving_default"].structured_input_signature[0]
        if request is not None and set(request) != {spec.name for spec in inputs}:
            request = None  # a user's own signature
        if request is not None:
            write_warmup_requests(part, path.parent.name, [request])
        if write_more is not None:
            write_more(part)
        write_model_card(part, path, predictor, options, concrete, metrics or {}, request)
    return path


def _resources(parts: Iterable[Any]) -> list[Any]:
    """Returns what parts hold beside weights, such as the lookup table of a user's layer."""
    kinds = (tf.Variable, tf.saved_model.experimental.TrackableResource)
    return [held for part in parts for held in vars(part).values() if isinstance(held, kinds)]


def _is_export(path: Path) -> bool:
    return (path / SAVED_MODEL).is_file()


def operations(graph_def: Any) -> set[str]:
    """Returns the names of all kinds of operations in a graph and its functions."""
    nodes: Iterable[Any] = graph_def.node
    names = {node.op for node in nodes}
    for function in graph_def.library.function:
        names |= {node.op for node in function.node_def}
    return names


def python_operations(graph_def: Any) -> list[str]:
    """Returns the operations of a graph that call back into Python."""
    return sorted(operations(graph_def) & PYTHON_OPERATIONS)
