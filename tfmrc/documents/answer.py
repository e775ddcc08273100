"""An answer with its place in a document."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, cast

from tfmrc.documents.document import Passage
from tfmrc.documents.passages import sentence_at
from tfmrc.predictors.results.result import Result
from tfmrc.predictors.spans.span_answer import SpanAnswer

PRIOR = 8.0  # of a passage's score; chosen on questions of SQuAD's training set
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")


@dataclass(frozen=True, kw_only=True)
class DocumentAnswer(Result):
    """An answer and its place; `str(answer)` is the quotation and the place.

    The alternatives do not overlap with the answer or with each other.

    Attributes:
        document: str or None. Name of the document; None if there is no answer, or a text in the
            model's words whose source is not known. Default: None.
        heading: tuple of str. The headings above it, the outermost first. Default: ().
        page: int or None. The page on which it begins, from 1, or the row of a table; None for a
            document without pages. Default: None.
        start: int. Offset of its first character in the document's text
            (`DocumentCollection.document_text`); of a text in the model's words, that of its
            passage; -1 if there is none. Default: -1.
        end: int. Offset after the last character. Default: -1.
        sentence: str. The sentence with the answer; `""` for a text in the model's words.
            Default: "".
        sentence_start: int. Offset of the sentence in the document's text. Default: -1.
        passage_start: int. Offset of the passage that was read. Default: -1.
        passage_end: int. Offset after it. Default: -1.
    """

    document: str | None = None
    heading: tuple[str, ...] = ()
    page: int | None = None
    start: int = -1
    end: int = -1
    sentence: str = ""
    sentence_start: int = -1
    passage_start: int = -1
    passage_end: int = -1

    def __str__(self) -> str:
        return "\n  ".join([self.headline, self.place] if self.document else [self.headline])

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Returns the answer that `to_json` described; further values are left out.

        Example:

        >>> answer = DocumentAnswer("owl", heading=("A",), alternatives=(DocumentAnswer("elk"),))
        >>> DocumentAnswer.from_json(answer.to_json() | {"more": 1}) == answer
        True
        """
        known = {each.name for each in fields(cls)}
        values = {name: each for name, each in value.items() if name in known}
        values["heading"] = tuple(values.get("heading", ()))
        values["alternatives"] = tuple(map(cls.from_json, values.get("alternatives", ())))
        return cls(**values)

    @property
    def headline(self) -> str:
        """As that of every result, on one line.

        Example:

        >>> DocumentAnswer("an\\nowl", probability=0.156, is_confident=False).headline
        'No confident answer. Best guess: an owl (0.16)'
        """
        if not self.text:
            return "No answer in these documents."
        return " ".join(super().headline.split())

    @property
    def place(self) -> str:
        """Document, page or row, headings and characters.

        Example:

        >>> DocumentAnswer("owl", document="a.pdf", heading=("B", "C"), start=7, end=10).place
        'a.pdf, B > C, characters 7-10'
        """
        unit = "row" if str(self.document).lower().endswith(TABLES) else "page"
        page = "" if self.page is None else f"{unit} {self.page}"
        headings = " > ".join(self.heading)
        characters = f"characters {self.start}-{self.end}"
        return ", ".join(part for part in (self.document, page, headings, characters) if part)

    @property
    def marked_sentence(self) -> str:
        """The sentence with the answer in brackets.

        Example:

        >>> place = {"start": 43, "end": 46, "sentence_start": 40}
        >>> DocumentAnswer("owl", sentence="An owl flew.", **place).marked_sentence
        'An [owl] flew.'
        """
        first, last = (offset - self.sentence_start for offset in (self.start, self.end))
        sentence = self.sentence
        return f"{sentence[:first]}[{sentence[first:last]}]{sentence[last:]}"

    def facts(self) -> list[tuple[str, str]]:
        """Returns place, sentence and probability, and the other candidates with their places."""
        pairs = [("in", self.place)] if self.document else []
        if self.sentence:
            pairs.append(("sentence:", " ".join(self.marked_sentence.split())))
        if self.text and self.probability is not None:
            pairs.append(("probability", self._chance))
        for other in self.alternatives:
            text = " ".join(other.text.split())
            pairs.append(("or:", f"{text} ({other._chance}; {other.place})"))
        return pairs

    @property
    def _chance(self) -> str:
        return "" if self.probability is None else f"{self.probability:.2f}"


def cite(
    result: Result, passages: Sequence[Passage], num_alternatives: int, by_passage: bool = True
) -> DocumentAnswer:
    """Returns the answer of a predictor with its place in a document.

    Spans are ordered by the product of their probability and `exp(8 score)`, with the score of
    their passage: a reader that sees several passages often prefers a likely span of one that does
    not fit the question. An answer that is not the reader's own choice is not confident.

    Args:
        result: `Result`. An answer from the texts of the passages.
        passages: sequence of `Passage`. The passages that were read.
        num_alternatives: int. Largest number of alternatives.
        by_passage: bool. Whether the scores of passages count; if not, the order of the predictor
            stays. Default: True.
    """
    found: list[Result] = [result, *result.alternatives]
    if by_passage and isinstance(result, SpanAnswer) and result.text:
        found.sort(key=lambda each: _support(cast(SpanAnswer, each), passages), reverse=True)
    kept = [_cited(found[0], passages)]
    for other in (_cited(each, passages) for each in found[1:]):
        if len(kept) <= num_alternatives and not any(_overlap(other, each) for each in kept):
            kept.append(other)
    is_confident = result.is_confident and found[0] is result
    return replace(kept[0], alternatives=tuple(kept[1:]), is_confident=is_confident)


def _support(answer: SpanAnswer, passages: Sequence[Passage]) -> float:
    return (answer.probability or 0.0) * math.exp(PRIOR * passages[answer.passage].score)


def _cited(result: Result, passages: Sequence[Passage]) -> DocumentAnswer:
    """Returns the text of a result with its place, without its alternatives."""
    common = {each.name: getattr(result, each.name) for each in fields(Result)}
    answer = DocumentAnswer(**common | {"alternatives": ()})
    number = getattr(result, "passage", None)
    relevance = getattr(result, "relevance", None)
    if number is None and relevance:
        number = max(range(len(passages)), key=lambda index: relevance[index])
    if number is None or number < 0 or not result.text:
        return answer
    passage = passages[number]
    start, end = getattr(result, "start", -1), getattr(result, "end", -1)
    if start >= 0:
        first, last = sentence_at(passage.text, start, end)
        sentence = {"sentence": passage.text[first:last], "sentence_start": passage.start + first}
    else:  # in the model's words
        start, end, sentence = 0, len(passage.text), {}
    return replace(
        answer,
        document=passage.document,
        heading=passage.heading,
        page=passage.page_at(passage.start + start),
        start=passage.start + start,
        end=passage.start + end,
        passage_start=passage.start,
        passage_end=passage.end,
        **sentence,
    )


def _overlap(one: DocumentAnswer, other: DocumentAnswer) -> bool:
    return one.document == other.document and one.start < other.end and other.start < one.end
