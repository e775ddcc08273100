"""Questions and passages as inputs of a signature, and its outputs as results."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfmrc.predictors.results.generated import GeneratedText
from tfmrc.predictors.spans.span_answer import SpanAnswer
from tfmrc.predictors.task import stream_of_passages

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
        passages: str or list of str. The passages.
        style: str or callable. The answer style, or a function that returns it; the function is
            called only for a model with styles.

    Raises:
        ValueError: If the model does not answer questions, or has no styles and one is given.

    Example:

    >>> from tfmrc.predictors.exported.queries import answer_query
    >>> query = answer_query({"serving_default": ["question", "passages"]}, "Who?", ["Ann."], str)
    >>> query.inputs
    {'question': ['Who?'], 'passages': [['Ann.']]}
    """
    texts = list(stream_of_passages(passages))
    name = "answer" if "answer" in signatures else "serving_default"
    expected = signatures.get(name, ())
    if not {"question", "passages"} <= set(expected):
        raise ValueError(
            "This model does not answer questions (`question`, `passages`). Its signatures are "
            f"{_listed(signatures)}. If it was exported by an earlier tfmrc, export it again."
        )
    inputs: dict[str, list[Any]] = {"question": [question], "passages": [texts or [""]]}
    if "style" in expected:
        inputs["style"] = [style if isinstance(style, str) else style()]
    elif isinstance(style, str):
        raise ValueError(f"This model has no styles: give none. Received: style={style!r}")
    return SignatureQuery(name, inputs, lambda outputs: read_result(outputs, 0, len(texts)))


def read_result(
    outputs: Mapping[str, Any], row: int, num_passages: int | None = None, answer: str | None = None
) -> Any:
    """Returns one row of a signature's outputs as a `SpanAnswer` or `GeneratedText`.

    Args:
        outputs: dict. Outputs of the signature: those with `starts` are spans.
        row: int. Index of the example in the batch.
        num_passages: int or None. Number of relevances to return; None for all. Default: None.
        answer: str or None. The answer that a question asks about. Default: None.
    """
    if "starts" in outputs:
        return SpanAnswer.from_outputs(outputs, row)
    return GeneratedText.from_outputs(outputs, row, num_passages=num_passages, answer=answer)


def ask_query(
    signatures: Signatures, passage: str, answer: str, answer_start: int | None
) -> SignatureQuery:
    """Returns the call that generates a question about an answer.

    Args:
        signatures: dict. The names of the inputs of each signature.
        passage: str. The passage.
        answer: str. The answer to ask about.
        answer_start: int or None. Offset of its first character in the passage; None for its first
            occurrence. Models that do not locate answers ignore it.

    Raises:
        ValueError: If the model does not ask questions.

    Example:

    >>> from tfmrc.predictors.exported.queries import ask_query
    >>> ask_query({"serving_default": ["passage", "answer"]}, "Ann.", "Ann", None).inputs
    {'passage': ['Ann.'], 'answer': ['Ann']}
    """
    inputs: dict[str, list[Any]] = {"passage": [passage], "answer": [answer]}
    name = "ask" if "ask" in signatures else "serving_default"
    if "answer" not in signatures.get(name, ()):
        raise ValueError(
            f"This model does not ask questions. Its signatures are {_listed(signatures)}."
        )
    if answer_start is not None and "at" in signatures:
        name = "at"
        inputs["answer_start"] = [int(answer_start)]
    return SignatureQuery(name, inputs, lambda outputs: read_result(outputs, 0, answer=answer))


def check_finds_answers(signatures: Signatures) -> None:
    """Raises a ValueError unless a model finds answers to ask about by itself.

    Args:
        signatures: dict. The names of the inputs of each signature.

    Example:

    >>> from tfmrc.predictors.exported.queries import check_finds_answers
    >>> check_finds_answers({"ask": ["passage", "answer"]})
    Traceback (most recent call last):
    ...
    ValueError: This model finds no answers to ask about: give one (`answer`, or --answer). \
Its signatures are ask.
    """
    if "generate_from_passage" not in signatures:
        raise ValueError(
            "This model finds no answers to ask about: give one (`answer`, or --answer). "
            f"Its signatures are {_listed(signatures)}."
        )


def _listed(signatures: Signatures) -> str:
    return ", ".join(signatures)
