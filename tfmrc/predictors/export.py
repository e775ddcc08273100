"""A predictor as a SavedModel that takes plain strings and needs no Python."""

import shutil
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.ops.portable import portable
from tfmrc.predictors.masque_signature import masque_signature
from tfmrc.predictors.model_card import write_model_card
from tfmrc.predictors.options import DecodingOptions
from tfmrc.serving.tf_serving import write_warmup_requests

__all__ = ["export_saved_model", "operations", "python_operations", "write_saved_model"]

PYTHON_OPERATIONS = frozenset(
    ["PyFunc", "PyFuncStateless", "EagerPyFunc", "NumpyFunction", "GeneratorDataset"]
)

#: A small question for each style, so that a server has run the graph before the first user asks.
WARMUP_QUESTION = "How high is the hill?"
WARMUP_PASSAGES = ("The hill is 310 metres high.", "Nobody has measured the valley.")


def export_saved_model(
    model: Any,
    preprocessor: Any,
    path: str | PathLike[str],
    options: DecodingOptions | None = None,
    *,
    metrics: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> Path:
    """Writes `<name>/<version>/` as TensorFlow Serving reads it.

    The signature `serving_default` takes `question` string `[B]`, `passages` string `[B, K]` (any
    K; `""` where a question has fewer) and `style` string `[B]`; `tfmrc.predictors.masque_signature` lists
    its outputs. Vocabulary and lookup tables are inside, the weights are those that the model holds
    at the moment. Beside the graph, in `assets.extra`, lie requests that TensorFlow Serving runs at
    start-up and a model card as JSON and Markdown.

    The folder is written under another name and then renamed, so a server that watches it never
    sees a half-written version.

    Args:
        model: see `tfmrc.predictors.MasquePredictor`.
        preprocessor: likewise.
        path: `<folder>/<name>/<version>`; the version is a number.
        options: how answers are searched for; fixed in the export.
        metrics: figures for the model card.
        overwrite: whether a version that exists is replaced.

    Returns:
        The version's folder.

    Raises:
        ValueError: if the path does not end in a number, the graph calls Python, or the model needs
            the true relevance (`ranker="gold"`).
        FileExistsError: if the version exists and `overwrite` is False.
    """
    if model.gold_ranker:
        raise ValueError(
            "A model with ranker='gold' needs the true relevance of every passage, which nobody "
            "has when a question is asked. Build it with ranker=True. "
            f"Received: model={model.name!r}"
        )
    options = options or DecodingOptions()
    reading = masque_signature(model, preprocessor, options)
    warmup = {
        "question": [WARMUP_QUESTION] * len(preprocessor.styles),
        "passages": [list(WARMUP_PASSAGES)] * len(preprocessor.styles),
        "style": list(preprocessor.styles),
    }
    return write_saved_model(
        model,
        preprocessor,
        path,
        options,
        signatures={"serving_default": reading},
        warmup=warmup,
        max_length=options.max_length or preprocessor.answer_length,
        metrics=metrics,
        overwrite=overwrite,
    )


def write_saved_model(
    model: Any,
    preprocessor: Any,
    path: str | PathLike[str],
    options: Any,
    *,
    signatures: Mapping[str, Any],
    warmup: Mapping[str, Any],
    max_length: int,
    metrics: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> Path:
    """Writes functions on strings as the signatures of a SavedModel, with all that belongs to it.

    Args:
        model, preprocessor, path, options, metrics, overwrite: as for `export_saved_model`.
        signatures: `tf.function`s with an input signature, by name; one is `serving_default`.
        warmup: nested lists of strings by input name, a request of `serving_default`; or nothing.
        max_length: most words that are generated.

    Returns:
        The version's folder.

    Raises:
        ValueError, FileExistsError: as `export_saved_model`.
    """
    path = Path(path).absolute()
    if not path.name.isdecimal():
        raise ValueError(
            "An export's path must end in a version number, as in savedmodels/masque/1: "
            f"TensorFlow Serving takes the greatest. Received: path={str(path)!r}"
        )
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{path} exists. Export to a greater version number, or pass overwrite=True."
        )

    with portable():  # a graph that leaves the process runs on every device
        concrete = {name: read.get_concrete_function() for name, read in signatures.items()}
    for traced in concrete.values():
        forbidden = python_operations(traced.graph.as_graph_def())
        if forbidden:
            raise ValueError(
                "The graph calls Python, which a server does not have: use TensorFlow operations "
                f"instead. Received: operations={forbidden}"
            )
    module = tf.Module(name="predictor")
    module.weights = [getattr(v, "value", v) for v in model.variables]
    module.preprocessor = preprocessor
    module.signature_functions = dict(signatures)

    part = path.with_name(f".{path.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Nobody trains an export; and the gradient of a loop's own making cannot be saved.
        saving = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
        tf.saved_model.save(module, str(part), signatures=concrete, options=saving)
        if warmup:
            write_warmup_requests(part, path.parent.name, [warmup])
        default = concrete["serving_default"]
        write_model_card(
            part, path, model, preprocessor, options, default, metrics or {}, max_length
        )
        if path.exists():
            shutil.rmtree(path)
        part.rename(path)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return path


def operations(graph_def: Any) -> set[str]:
    """Names of all kinds of operations in a graph and its functions."""
    nodes: Iterable[Any] = graph_def.node
    found = {node.op for node in nodes}
    for function in graph_def.library.function:
        found |= {node.op for node in function.node_def}
    return found


def python_operations(graph_def: Any) -> list[str]:
    """Those operations of a graph that call back into Python."""
    return sorted(operations(graph_def) & PYTHON_OPERATIONS)
