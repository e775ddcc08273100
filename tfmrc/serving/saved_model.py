"""One question to an export, which needs TensorFlow and none of the model's code."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import tensorflow as tf
import tensorflow_text  # noqa: F401 (its operations are in the graph)

from tfmrc.serving.answer import Answer
from tfmrc.serving.span_answer import SpanAnswer

__all__ = ["answer_from_export"]


def answer_from_export(
    path: str | PathLike[str], question: str, passages: Sequence[str], style: str | None = None
) -> Answer | SpanAnswer:
    """Asks an export of a `tfmrc.serving.Reader` or `SpanReader`.

    Args:
        path: the export's folder.
        question: the question.
        passages: one or more. A reader of spans reads each alone, and the likeliest span wins.
        style: of the answer; a reader of spans has none.

    Raises:
        ValueError: the folder is no export, or the export does not take these inputs.
    """
    if not Path(path, "saved_model.pb").is_file():
        raise ValueError(
            "An export is a folder with a saved_model.pb, as savedmodels/NAME/1. "
            f"Received: savedmodel={fspath(path)}"
        )
    signature = tf.saved_model.load(fspath(path)).signatures["serving_default"]
    wanted = set(signature.structured_input_signature[1])
    inputs: dict[str, Any] = {"question": [question], "passages": [list(passages)]}
    if "passages" not in wanted:
        inputs = {"question": [question] * len(passages), "passage": list(passages)}
    if style is not None:
        inputs["style"] = [style]
    if set(inputs) != wanted:
        raise ValueError(
            f"This export takes {', '.join(sorted(wanted))}. Received: {', '.join(sorted(inputs))}"
        )
    try:
        outputs = signature(**{name: tf.constant(value) for name, value in inputs.items()})
    except tf.errors.OpError as error:
        raise ValueError(error.message.split("assertion failed: ")[-1].split("\n")[0]) from None
    arrays = {name: value.numpy() for name, value in outputs.items()}
    if "passages" in wanted:
        return Answer.from_outputs(arrays, 0, len(passages))
    spans = (
        replace(SpanAnswer.from_outputs(arrays, number), passage=number)
        for number in range(len(passages))
    )
    return max(spans, key=lambda span: span.probability)
