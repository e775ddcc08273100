"""The one record type of all datasets and models."""

import json
from collections.abc import Mapping
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
        ValueError: If the numbers are not a span.

    Example:

    >>> span = Span(passage=0, start=3, end=7)
    >>> "an owl flew"[span.start : span.end]
    'owl '
    """

    passage: int
    start: int
    end: int

    def __post_init__(self) -> None:
        numbers = (self.passage, self.start, self.end)
        is_valid = all(isinstance(number, int) for number in numbers)
        if not is_valid or self.passage < 0 or not 0 <= self.start < self.end:
            raise ValueError(
                "A span has a passage, a start and a later end, integers from 0. "
                f"Received: passage={self.passage!r}, start={self.start!r}, end={self.end!r}"
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
        def keep(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        keep("passages", _texts("passages", self.passages))
        keep("answers", {s: _texts(f"answers[{s!r}]", given) for s, given in self.answers.items()})
        keep("spans", tuple(self.spans))
        for name in ("id", "question", "query_type", "group"):
            if name in ("id", "question") or getattr(self, name) is not None:
                _check_text(name, getattr(self, name))
        if self.answerable not in (True, False, None):
            raise ValueError(
                f"answerable must be True, False or None. Received: {short(self.answerable)}"
            )
        if self.answerable is False and self.answers:
            raise ValueError(
                "An unanswerable example must not have answers. "
                f"Received: answerable=False, answers={short(self.answers)}"
            )
        for style, references in self.answers.items():
            if not references or not all(reference.strip() for reference in references):
                raise ValueError(
                    "Each style must have at least one answer, and no answer may be blank. "
                    f"Received: answers[{style!r}]={short(references)}"
                )
        if self.relevance is not None:
            keep("relevance", tuple(self.relevance))
            if [type(flag) for flag in self.relevance] != [bool] * len(self.passages):
                raise ValueError(
                    "relevance must have True or False per passage. Received: relevance="
                    f"{short(self.relevance)}, len(passages)={len(self.passages)}"
                )
        for span in self.spans:
            lengths = [len(passage) for passage in self.passages]
            if span.passage >= len(lengths) or span.end > lengths[span.passage]:
                raise ValueError(
                    "A span must be within one of the passages. "
                    f"Received: {span!r}, lengths of the passages: {short(lengths)}"
                )

    @property
    def is_labelled(self) -> bool:
        """Whether the example can train or test something."""
        return bool(self.answers) or (self.answerable, self.relevance) != (None, None)

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
            ValueError, TypeError: The line is not JSON or not an example.
        """
        record = json.loads(line)
        return cls(**{**record, "spans": [Span(*span) for span in record.get("spans", ())]})


def short(value: object) -> str:
    """Returns the `repr` of a value for an error message, cut after 80 characters."""
    try:
        text = repr(value)
    except RecursionError:
        text = f"a deeply nested {type(value).__name__}"
    return text if len(text) <= 80 else text[:80] + "…"


def _check_text(name: str, value: Any) -> None:
    try:
        value.encode()
    except (AttributeError, UnicodeEncodeError):
        raise ValueError(
            f"{name} must be a string of valid Unicode. Received: {name}={short(value)}"
        ) from None


def _texts(name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str | bytes):
        raise ValueError(f"{name} must be a sequence of strings. Received: {name}={short(values)}")
    values = tuple(values)
    for number, value in enumerate(values):
        _check_text(f"{name}[{number}]", value)
    return values
