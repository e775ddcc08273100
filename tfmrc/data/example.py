"""The one record type of all datasets and models."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a passage: code points ``start`` (included) to ``end`` (excluded).

    Args:
        passage: number of the passage, from 0.
        start: first character.
        end: the character after the last one.

    Raises:
        ValueError: if a number is negative or the span holds nothing.

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
                "A span ends after its start. "
                f"Received: passage={self.passage}, start={self.start}, end={self.end}"
            )


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the passages that may answer it, and what is known of the answer.

    Args:
        id: name of the question in its dataset.
        question: the question's text.
        passages: the passages' texts; an empty string is an empty passage.
        answers: style -> reference answers. The first one is the training target.
        answerable: whether the passages answer the question; ``None`` if unknown.
        relevance: of each passage, whether it helps to answer; ``None`` if unknown.
        spans: where answers stand in the passages.
        query_type: the dataset's own class of the question.
        group: article, document or story: what splits go by.

    Raises:
        ValueError: if a value has a wrong type or they contradict each other.

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
                "An example that is not answerable has no answers. "
                f"Received: answerable=False, answers={short(self.answers)}"
            )
        if self.relevance is not None:
            if isinstance(self.relevance, str) or not isinstance(self.relevance, Iterable):
                raise ValueError(
                    "relevance holds a boolean for each passage. "
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
                    "relevance holds a boolean for each passage. "
                    f"Received: relevance={short(relevance)}"
                )
        if len(relevance) != len(self.passages):
            raise ValueError(
                "relevance has as many entries as passages. Received: "
                f"len(relevance)={len(relevance)}, len(passages)={len(self.passages)}"
            )

    def _check_span(self, span: Span) -> None:
        if not isinstance(span, Span):
            raise ValueError(f"spans holds Span objects. Received: spans={short(self.spans)}")
        if span.passage >= len(self.passages):
            raise ValueError(
                f"A span points to a passage that is not there. Received: {span!r}, "
                f"len(passages)={len(self.passages)}"
            )
        if span.end > len(self.passages[span.passage]):
            raise ValueError(
                f"A span ends behind its passage. Received: {span!r}, "
                f"len(passages[{span.passage}])={len(self.passages[span.passage])}"
            )

    def span_text(self, span: Span) -> str:
        """The text of a span of this example."""
        return self.passages[span.passage][span.start : span.end]

    def to_json(self) -> str:
        """The example as one line of JSON; fields that are unknown or empty are left out."""
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
        """The example that ``to_json`` wrote.

        Raises:
            ValueError: if the line is no JSON or no example.
        """
        return cls.from_record(json.loads(line))

    @classmethod
    def from_record(cls, record: Any) -> "Example":
        """The example whose line of JSON gave this value.

        Raises:
            ValueError: if it is no example.
        """
        if not isinstance(record, dict):
            raise ValueError(f"An example is a JSON object. Received: {short(record)}")
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
                f"A span is written [passage, start, end]. Received: spans={short(spans)}"
            )
        return cls(**record | {"spans": [Span(*span) for span in spans]})


def short(value: Any) -> str:
    """The value as an error shows it: cut after 80 characters."""
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
                f"{name} is no valid Unicode. Received: {name}={short(value)}"
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
            "Each style has at least one answer, none of them blank. "
            f"Received: answers[{style!r}]={short(references)}"
        )
    return references
