"""The one record type of all datasets and models."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """A span of a passage: code points ``start`` (included) to ``end`` (excluded).

    Args:
        passage: int. Index of the passage.
        start: int. Index of the first character.
        end: int. Index after the last character.

    Raises:
        ValueError: A number is negative or the span is empty.

    Example:

    >>> span = Span(passage=0, start=3, end=7)
    >>> "an owl flew"[span.start : span.end]
    'owl '
    """

    passage: int
    start: int
    end: int

    def __post_init__(self) -> None:
        for name in ("passage", "start", "end"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ValueError(
                    f"{name} must be an integer from 0. Received: {name}={short(value)}"
                )
        if self.end <= self.start:
            raise ValueError(
                "A span must end after its start. "
                f"Received: passage={self.passage}, start={self.start}, end={self.end}"
            )


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its passages, answers and labels.

    Args:
        id: str. Identifier of the question in its dataset.
        question: str. Text of the question.
        passages: sequence of str. Texts of the passages; an empty string is an empty passage.
        answers: dict from style to a sequence of reference answers. The first answer of a style
            is the training target. Default: no answers.
        answerable: bool. Whether the passages answer the question. Default: None, unknown.
        relevance: sequence of bool. Whether each passage contributes to the answer. Default:
            None, unknown.
        spans: sequence of `Span`. Occurrences of the answers in the passages. Default: none.
        query_type: str. The dataset's class of the question. Default: None.
        group: str. Article, document or story. Splits keep a group together. Default: None.

    Raises:
        ValueError: A value has a wrong type, or two values contradict each other.

    Example:

    >>> example = Example(
    ...     id="1",
    ...     question="Who flew?",
    ...     passages=("An owl flew.", "A cat slept."),
    ...     answers={"span": ("An owl",)},
    ...     answerable=True,
    ...     relevance=(True, False),
    ...     spans=(Span(0, 0, 6),),
    ... )
    >>> Example.from_json(example.to_json()) == example
    True
    >>> example.span_of("An owl")
    Span(passage=0, start=0, end=6)
    """

    id: str
    question: str
    passages: tuple[str, ...]
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    answerable: bool | None = None
    relevance: tuple[bool, ...] | None = None
    spans: tuple[Span, ...] = ()
    query_type: str | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        _check_text("id", self.id)
        _check_text("question", self.question)
        self._set("passages", _strings("passages", self.passages))
        if not isinstance(self.answers, Mapping):
            raise ValueError(f"answers must map styles. Received: answers={short(self.answers)}")
        self._set("answers", {s: _references(s, given) for s, given in self.answers.items()})
        _check_flag("answerable", self.answerable)
        if self.answerable is False and self.answers:
            raise ValueError(
                "An unanswerable example must not have answers. "
                f"Received: answerable=False, answers={short(self.answers)}"
            )
        if self.relevance is not None:
            if isinstance(self.relevance, str) or not isinstance(self.relevance, Iterable):
                raise ValueError(
                    "relevance must have a boolean per passage. "
                    f"Received: relevance={short(self.relevance)}"
                )
            self._set("relevance", tuple(self.relevance))
            self._check_relevance(self.relevance)
        self._set("spans", tuple(self.spans))
        for span in self.spans:
            self._check_span(span)
        for name in ("query_type", "group"):
            if getattr(self, name) is not None:
                _check_text(name, getattr(self, name))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_relevance(self, relevance: tuple[bool, ...]) -> None:
        for flag in relevance:
            if not isinstance(flag, bool):
                raise ValueError(
                    "relevance must have a boolean per passage. "
                    f"Received: relevance={short(relevance)}"
                )
        if len(relevance) != len(self.passages):
            raise ValueError(
                "relevance must have one entry per passage. Received: "
                f"len(relevance)={len(relevance)}, len(passages)={len(self.passages)}"
            )

    def _check_span(self, span: Span) -> None:
        if not isinstance(span, Span):
            raise ValueError(f"spans must be Span objects. Received: spans={short(self.spans)}")
        if span.passage >= len(self.passages):
            raise ValueError(
                f"A span must refer to an existing passage. Received: {span!r}, "
                f"len(passages)={len(self.passages)}"
            )
        if span.end > len(self.passages[span.passage]):
            raise ValueError(
                f"A span must end within its passage. Received: {span!r}, "
                f"len(passages[{span.passage}])={len(self.passages[span.passage])}"
            )

    def span_text(self, span: Span) -> str:
        """Returns the text of a span of this example."""
        return self.passages[span.passage][span.start : span.end]

    def span_of(self, answer: str) -> Span | None:
        """Returns the first span that is an answer; None if there is none or no answer."""
        spans = self.spans if answer else ()
        return next((span for span in spans if self.span_text(span) == answer), None)

    def to_json(self) -> str:
        """Returns the example as one line of JSON, without unknown or empty fields."""
        record: dict[str, Any] = {
            "id": self.id,
            "question": self.question,
            "passages": self.passages,
            "answers": self.answers,
            "answerable": self.answerable,
            "relevance": self.relevance,
            "spans": [[span.passage, span.start, span.end] for span in self.spans],
            "query_type": self.query_type,
            "group": self.group,
        }
        always = ("id", "question", "passages")
        selected = {
            k: v for k, v in record.items() if k in always or not (v is None or v in ({}, []))
        }
        return json.dumps(selected, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str | bytes) -> "Example":
        """Returns the example of a line that ``to_json`` wrote.

        Raises:
            ValueError: The line is not JSON or not an example.
        """
        return cls.from_record(json.loads(line))

    @classmethod
    def from_record(cls, record: Any) -> "Example":
        """Returns the example of a parsed line of JSON.

        Raises:
            ValueError: The value is not an example.
        """
        if not isinstance(record, dict):
            raise ValueError(f"An example must be a JSON object. Received: {short(record)}")
        for name in ("id", "question", "passages"):
            if name not in record:
                raise ValueError(f"An example needs {name!r}. Received: {short(record)}")
        unknown = sorted(set(record) - set(cls.__dataclass_fields__))
        if unknown:
            raise ValueError(f"An example has no field {unknown[0]!r}. Received: {short(record)}")
        spans = record.get("spans", [])
        if not isinstance(spans, list) or not all(
            isinstance(s, list) and len(s) == 3 for s in spans
        ):
            raise ValueError(
                f"A span must be [passage, start, end]. Received: spans={short(spans)}"
            )
        return cls(**record | {"spans": [Span(*span) for span in spans]})


def short(value: Any) -> str:
    """Returns the `repr` of a value for an error message, cut after 80 characters."""
    try:
        text = repr(value)
    except RecursionError:
        text = f"a deeply nested {type(value).__name__}"
    return text if len(text) <= 80 else text[:80] + "…"


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string. Received: {name}={short(value)}")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"{name} must be valid Unicode. Received: {name}={short(value)}"
            ) from None


def _check_flag(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{name} must be True, False or None. Received: {name}={short(value)}")


def _strings(name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a sequence of strings. Received: {name}={short(values)}")
    values = tuple(values)
    for number, value in enumerate(values):
        _check_text(f"{name}[{number}]", value)
    return values


def _references(style: Any, values: Any) -> tuple[str, ...]:
    _check_text("style", style)
    references = _strings(f"answers[{style!r}]", values)
    if not references or not all(reference.strip() for reference in references):
        raise ValueError(
            "Each style must have at least one answer, and no answer may be blank. "
            f"Received: answers[{style!r}]={short(references)}"
        )
    return references
