"""One question to an export, or for one, which needs TensorFlow and none of the model's code."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from tfmrc.predictors.answer import Answer
from tfmrc.predictors.generated import GeneratedQuestion, GeneratedText
from tfmrc.predictors.span_answer import SpanAnswer
from tfmrc.serving.signature import SavedModel

__all__ = ["answer_from_export", "ask_from_export"]


def answer_from_export(
    path: str | PathLike[str], question: str, passages: Sequence[str], style: str | None = None
) -> Answer | SpanAnswer | GeneratedText:
    """Asks an export of a `tfmrc.predictors.MasquePredictor`, `SANPredictor` or `DAANetPredictor`.

    Args:
        path: the export's folder, or that of its versions: the newest one is asked.
        question: the question.
        passages: one or more. A predictor of spans reads each alone, and the likeliest span wins; a
            dual model reads them joined to one.
        style: of the answer; predictors of spans and dual models have none.

    Raises:
        FileNotFoundError: the folder is no export.
        ValueError: the export does not take these inputs, or a predictor of spans gets no passage.
    """
    signatures = SavedModel(path).signatures
    signature = signatures.get("answer", signatures["serving_default"])
    wanted = signature.inputs
    inputs: dict[str, Any] = {"question": [question], "passages": [list(passages)]}
    is_dual = "answers" in signature.outputs and "starts" not in signature.outputs
    if is_dual:
        inputs = {"question": [question], "passage": [" ".join(passages)]}
    elif "passages" not in wanted:
        if not passages:
            raise ValueError("A span stands in a passage. Received: passages=()")
        inputs = {"question": [question] * len(passages), "passage": list(passages)}
    if style is not None:
        inputs["style"] = [style]
    outputs = signature(inputs)
    if is_dual:
        best, *others = GeneratedText.from_outputs(outputs, 0)
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
) -> list[GeneratedQuestion]:
    """Lets an export of a `tfmrc.predictors.MaxoutPointerQGPredictor` or `DAANetPredictor` ask about a passage.

    Args:
        path: the export's folder, or that of its versions: the newest one is asked.
        passage: the passage.
        answer: what to ask about; None for what the export itself finds in the passage, which an
            export of a `DAANetPredictor` cannot. A model without answers needs none.

    Returns:
        The questions about the answer, best first; or one question about each answer found.

    Raises:
        FileNotFoundError: the folder is no export.
        ValueError: the export does not take these inputs, or the answer does not stand in the
            passage.
    """
    signatures = SavedModel(path).signatures
    default = signatures["serving_default"]
    if "ask" in signatures:
        signature, inputs = signatures["ask"], {"passage": [passage]}
    elif answer is None and "propose" in signatures:
        signature, inputs = signatures["propose"], {"passage": [passage]}
    else:
        signature, inputs, answer = default, {"passage": [passage]}, answer or ""
    if answer is not None:
        inputs["answer"] = [answer]
    return GeneratedQuestion.from_outputs(signature(inputs), 0, answer)
