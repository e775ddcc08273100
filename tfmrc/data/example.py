"""The one record type of all datasets and models, and its file of JSON lines."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from tfmrc.data.stream import ExampleStream, OnError, RecordError, Report, open_text, open_to_write


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
                raise ValueError(f"{name} must be an integer from 0. Received: {name}={value!r}")
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
            raise ValueError(f"answers must map styles. Received: answers={self.answers!r}")
        self._set("answers", {s: _references(s, given) for s, given in self.answers.items()})
        _check_flag("answerable", self.answerable)
        if self.answerable is False and self.answers:
            raise ValueError(
                "An example that is not answerable has no answers. "
                f"Received: answerable=False, answers={self.answers!r}"
            )
        if self.relevance is not None:
            if isinstance(self.relevance, str) or not isinstance(self.relevance, Iterable):
                raise ValueError(
                    "relevance holds a boolean for each passage. "
                    f"Received: relevance={self.relevance!r}"
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
                    f"relevance holds a boolean for each passage. Received: relevance={relevance!r}"
                )
        if len(relevance) != len(self.passages):
            raise ValueError(
                "relevance has as many entries as passages. Received: "
                f"len(relevance)={len(relevance)}, len(passages)={len(self.passages)}"
            )

    def _check_span(self, span: Span) -> None:
        if not isinstance(span, Span):
            raise ValueError(f"spans holds Span objects. Received: spans={self.spans!r}")
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
        kept = {k: v for k, v in record.items() if k in always or not (v is None or v in ({}, []))}
        return json.dumps(kept, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str | bytes) -> "Example":
        """The example that ``to_json`` wrote.

        Raises:
            ValueError: if the line is no JSON or no example.
        """
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError(f"An example is a JSON object. Received: {_short(line)}")
        for name in ("id", "question", "passages"):
            if name not in record:
                raise ValueError(f"An example needs {name!r}. Received: {_short(line)}")
        unknown = sorted(set(record) - set(cls.__dataclass_fields__))
        if unknown:
            raise ValueError(f"An example has no field {unknown[0]!r}. Received: {_short(line)}")
        spans = record.get("spans", [])
        if not isinstance(spans, list) or not all(
            isinstance(s, list) and len(s) == 3 for s in spans
        ):
            raise ValueError(f"A span is written [passage, start, end]. Received: spans={spans!r}")
        record["spans"] = [Span(*span) for span in spans]
        return cls(**record)


def _short(line: str | bytes) -> str:
    return repr(line if len(line) <= 80 else line[:80]) + ("" if len(line) <= 80 else "…")


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string. Received: {name}={value!r}")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(f"{name} is no valid Unicode. Received: {name}={value!r}") from None


def _check_flag(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{name} must be True, False or None. Received: {name}={value!r}")


def _strings(name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a sequence of strings. Received: {name}={values!r}")
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
            f"Received: answers[{style!r}]={references!r}"
        )
    return references


def read_examples(path: str | PathLike, *, on_error: OnError = "raise") -> ExampleStream:
    """Read examples from JSON lines, one at a time; ``.gz`` is read as it is.

    Args:
        path: the file that ``write_examples`` wrote.
        on_error: ``"raise"`` a ``RecordError`` at a broken line, or ``"skip"`` and count it.

    Returns:
        A stream that can be read as often as one likes.

    Raises:
        RecordError: while reading, at a broken line.
    """

    def read(report: Report) -> Iterable[Example]:
        with open_text(path) as lines:
            for number, line in enumerate(lines, 1):
                if line.isspace():
                    continue
                try:
                    example = Example.from_json(line)
                except (ValueError, TypeError) as error:
                    report.error(RecordError(str(error), path=path, record=f"line {number}"))
                    continue
                yield example

    return ExampleStream(read, on_error)


def write_examples(path: str | PathLike, examples: Iterable[Example]) -> int:
    """Write examples as JSON lines, one at a time; compressed if the name ends in ``.gz``.

    A compressed file holds no time stamp: the same examples give the same bytes.

    Args:
        path: the file to write; its folder must exist.
        examples: the examples.

    Returns:
        How many were written.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/examples.jsonl.gz"
    ...     written = write_examples(path, [Example("1", "Why?", ("So.",))])
    ...     [example.question for example in read_examples(path)]
    ['Why?']
    """
    count = 0
    with open_to_write(path) as file:
        for example in examples:
            file.write(example.to_json() + "\n")
            count += 1
    return count
