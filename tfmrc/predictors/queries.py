"""Questions and passages as inputs of a signature, and its outputs as results."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfmrc.predictors.answer import Answer
from tfmrc.predictors.generated import GeneratedQuestion, GeneratedText
from tfmrc.predictors.result import Result, string_of
from tfmrc.predictors.san import best_of_passages
from tfmrc.predictors.span_answer import SpanAnswer
from tfmrc.predictors.task import refuse_start, sequence_of_passages

__all__ = ["SignatureQuery", "answer_query", "ask_query", "check_finds_answers"]

Signatures = Mapping[str, Collection[str]]


@dataclass(frozen=True)
class SignatureQuery:
    """A call of a signature.

    Attributes:
        signature: str. Name of the signature.
        inputs: dict. For each input the values.
        read: callable. Function of the outputs that returns the result.
    """

    signature: str
    inputs: dict[str, list[Any]]
    read: Callable[[Mapping[str, Any]], Any]


def answer_query(
    signatures: Signatures,
    question: str,
    passages: str | Sequence[str],
    style: str | Callable[[], str],
) -> SignatureQuery:
    """Returns the call that answers a question.

    Args:
        signatures: dict. The names of the inputs of each signature.
        question: str. The question.
        passages: str or list of str. One or more passages.
        style: str or callable. The answer style, or a function that returns it; the function is
            called only for a model of several passages and styles.

    Raises:
        ValueError: If the model does not answer questions, or has no styles and one is given.

    Example:

    >>> from tfmrc.predictors.queries import answer_query
    >>> query = answer_query({"serving_default": ["question", "passage"]}, "Who?", ["Ann."], str)
    >>> query.inputs
    {'question': ['Who?'], 'passage': ['Ann.']}
    """
    passages = sequence_of_passages(passages)
    name = "answer" if "answer" in signatures else "serving_default"
    expected = signatures.get(name, ())
    if "question" not in expected:
        hint = "" if "answer" not in expected else " It asks them: call `ask`, or `tfmrc ask`."
        raise ValueError(
            f"This model does not answer questions.{hint} Its signatures are "
            f"{', '.join(signatures)}."
        )
    if "passages" in expected and "style" not in expected:
        if isinstance(style, str):
            raise ValueError(f"This model has no styles: give none. Received: style={style!r}")
        inputs: dict[str, list[Any]] = {
            "question": [question],
            "passages": [list(passages) or [""]],
        }
        return SignatureQuery(name, inputs, lambda outputs: SpanAnswer.from_outputs(outputs, 0))
    if "passages" in expected:
        chosen = style if isinstance(style, str) else style()
        inputs = {
            "question": [question],
            "passages": [list(passages)],
            "style": [chosen],
        }
        return SignatureQuery(
            name, inputs, lambda outputs: Answer.from_outputs(outputs, 0, len(passages))
        )
    styled: list[Any] = [style] if isinstance(style, str) else []
    if name == "answer":
        inputs = {"question": [question], "passage": [" ".join(passages)]}
        if styled:
            inputs["style"] = styled
        return SignatureQuery(name, inputs, lambda outputs: GeneratedText.from_outputs(outputs, 0))
    read = passages or ("",)
    inputs = {"question": [question] * len(read), "passage": list(read)}
    if styled:
        inputs["style"] = styled
    return SignatureQuery(name, inputs, lambda outputs: _best(outputs, len(read)))


def ask_query(
    signatures: Signatures, passage: str, answer: str, answer_start: int | None
) -> SignatureQuery:
    """Returns the call that generates a question about an answer.

    Args:
        signatures: dict. The names of the inputs of each signature.
        passage: str. The passage.
        answer: str. The answer to ask about.
        answer_start: int or None. Offset of its first character in the passage; None for its first
            occurrence.

    Raises:
        ValueError: If the model does not ask questions, or does not locate an answer whose position
            is given.

    Example:

    >>> from tfmrc.predictors.queries import ask_query
    >>> ask_query({"serving_default": ["passage", "answer"]}, "Ann.", "Ann", None).inputs
    {'passage': ['Ann.'], 'answer': ['Ann']}
    """
    inputs: dict[str, list[Any]] = {"passage": [passage], "answer": [answer]}
    name = _asking(signatures)
    if "at" not in signatures:
        refuse_start(answer_start)
    if answer_start is not None:
        name = "at"
        # One of NumPy has a size of its own, which need not be the input's.
        is_numpy = isinstance(answer_start, np.integer)
        inputs["answer_start"] = [int(answer_start) if is_numpy else answer_start]
    return SignatureQuery(name, inputs, lambda outputs: GeneratedQuestion.about(outputs, 0, answer))


def check_finds_answers(signatures: Signatures) -> None:
    """Raises a ValueError unless a model finds answers to ask about by itself.

    Args:
        signatures: dict. The names of the inputs of each signature.

    Example:

    >>> from tfmrc.predictors.queries import check_finds_answers
    >>> check_finds_answers({"ask": ["passage", "answer"]})
    Traceback (most recent call last):
    ...
    ValueError: This model finds no answers to ask about: give one (`answer`, or --answer).
    """
    _asking(signatures)
    if "generate_from_passage" not in signatures:
        raise ValueError(
            "This model finds no answers to ask about: give one (`answer`, or --answer)."
        )


def _asking(signatures: Signatures) -> str:
    """Returns the signature that asks about an answer."""
    name = "ask" if "ask" in signatures else "serving_default"
    expected = signatures.get(name, ())
    if "answer" not in expected:
        hint = "" if "question" not in expected else " It answers them: `answer`, `tfmrc answer`."
        raise ValueError(
            f"This model does not ask questions.{hint} Its signatures are {', '.join(signatures)}."
        )
    return name


def _best(outputs: Mapping[str, Any], count: int) -> Result:
    """Returns the most probable span of several passages, or a plain result."""
    if "starts" in outputs:
        spans = [SpanAnswer.from_outputs(outputs, row) for row in range(count)]
        return best_of_passages(spans, count=len(outputs["starts"][0]))
    if "answer" not in outputs:
        raise ValueError(
            f"This export has no output `answer`; call `run`. Received: {sorted(outputs)}"
        )
    chances = outputs.get("probability")
    best = 0 if chances is None else max(range(len(chances)), key=lambda row: float(chances[row]))
    probability = None if chances is None else float(chances[best])
    return Result(string_of(outputs["answer"][best]), probability=probability)
