"""One question to an export, or for one, which needs TensorFlow and none of the model's code."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import tensorflow as tf
import tensorflow_text  # noqa: F401 (its operations are in the graph)

from tfmrc.serving.answer import Answer
from tfmrc.serving.span_answer import SpanAnswer
from tfmrc.serving.written import Asked, Written

__all__ = ["answer_from_export", "ask_from_export"]


def answer_from_export(
    path: str | PathLike[str], question: str, passages: Sequence[str], style: str | None = None
) -> Answer | SpanAnswer | Written:
    """Asks an export of a `tfmrc.serving.Reader`, `SpanReader` or `DualReader`.

    Args:
        path: the export's folder.
        question: the question.
        passages: one or more. A reader of spans reads each alone, and the likeliest span wins; a
            dual model reads them as one context.
        style: of the answer; readers of spans and dual models have none.

    Raises:
        ValueError: the folder is no export, or the export does not take these inputs.
    """
    signatures = _signatures(path)
    signature = signatures.get("answer", signatures["serving_default"])
    wanted = _inputs(signature)
    inputs: dict[str, Any] = {"question": [question], "passages": [list(passages)]}
    if "context" in wanted:
        inputs = {"question": [question], "context": [" ".join(passages)]}
    elif "passages" not in wanted:
        inputs = {"question": [question] * len(passages), "passage": list(passages)}
    if style is not None:
        inputs["style"] = [style]
    outputs = _run(signature, inputs)
    if "context" in wanted:
        best, *others = Written.from_outputs(outputs, 0)
        return replace(best, alternatives=tuple(others))
    if "passages" in wanted:
        return Answer.from_outputs(outputs, 0, len(passages))
    spans = (
        replace(SpanAnswer.from_outputs(outputs, number), passage=number)
        for number in range(len(passages))
    )
    return max(spans, key=lambda span: span.probability)


def ask_from_export(
    path: str | PathLike[str], passage: str, answer: str | None = None
) -> list[Asked]:
    """Lets an export of a `tfmrc.serving.Asker` or `DualReader` ask about a passage.

    Args:
        path: the export's folder.
        passage: the passage.
        answer: what to ask about; None for what the export itself finds in the passage, which an
            export of a `DualReader` cannot. A model without answers needs none.

    Returns:
        The questions about the answer, best first; or one question about each answer found.

    Raises:
        ValueError: the folder is no export, the export does not take these inputs, or the answer
            does not stand in the passage.
    """
    signatures = _signatures(path)
    default = signatures["serving_default"]
    if "context" in _inputs(default):
        signature, inputs = signatures.get("ask", default), {"context": [passage]}
    elif answer is None and "propose" in signatures:
        signature, inputs = signatures["propose"], {"passage": [passage]}
    else:
        signature, inputs, answer = default, {"passage": [passage]}, answer or ""
    if answer is not None:
        inputs["answer"] = [answer]
    return Asked.from_outputs(_run(signature, inputs), 0, answer)


def _signatures(path: str | PathLike[str]) -> Mapping[str, Any]:
    if not Path(path, "saved_model.pb").is_file():
        raise ValueError(
            "An export is a folder with a saved_model.pb, as savedmodels/NAME/1. "
            f"Received: savedmodel={fspath(path)}"
        )
    signatures: Mapping[str, Any] = tf.saved_model.load(fspath(path)).signatures
    return signatures


def _inputs(signature: Any) -> set[str]:
    return set(signature.structured_input_signature[1])


def _run(signature: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    if set(inputs) != _inputs(signature):
        raise ValueError(
            f"This export takes {', '.join(sorted(_inputs(signature)))}. "
            f"Received: {', '.join(sorted(inputs))}"
        )
    try:
        outputs = signature(**{name: tf.constant(value) for name, value in inputs.items()})
    except tf.errors.OpError as error:
        raise ValueError(error.message.split("assertion failed: ")[-1].split("\n")[0]) from None
    return {name: value.numpy() for name, value in outputs.items()}
