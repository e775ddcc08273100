"""An answer with its place in a document."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from tfmrc.documents.document import Passage
from tfmrc.documents.passages import sentence_at
from tfmrc.predictors.exported.queries import SignatureQuery
from tfmrc.predictors.results.result import Result
from tfmrc.predictors.spans.span_answer import SpanAnswer

PRIOR = 8.0  # of a passage's score; chosen on questions of SQuAD's training set
LEAST = 0.8  # probability of the passage of a confident answer; chosen as PRIOR
TINY = 1e-9
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
        passage: str. The passage that was read. Default: "".
        passage_start: int. Its offset in the document's text. Default: -1.
    """

    document: str | None = None
    heading: tuple[str, ...] = ()
    page: int | None = None
    start: int = -1
    end: int = -1
    sentence: str = ""
    sentence_start: int = -1
    passage: str = ""
    passage_start: int = -1

    def __str__(self) -> str:
        return "\n  ".join([self.headline, self.place] if self.document else [self.headline])

    def to_json(self) -> dict[str, Any]:
        """Returns the fields, and the `place` of each answer, as a JSON-serialisable dict."""
        others = [other.to_json() for other in self.alternatives]
        place = {"place": self.place} if self.document else {}
        return super().to_json() | place | ({"alternatives": others} if others else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Returns the answer that `to_json` described; other keys are ignored.

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
    def quotation(self) -> str:
        """The characters from `start` to `end`: the text, or the passage of the model's words."""
        return self.passage[self.start - self.passage_start : self.end - self.passage_start]

    @property
    def headline(self) -> str:
        """The `headline` of every result, on one line.

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
            pairs.append(("probability", f"{self.probability:.2f}"))
        for other in self.alternatives:
            text = " ".join(other.text.split())
            pairs.append(("or:", f"{text} ({other.probability or 0.0:.2f}; {other.place})"))
        return pairs


def span_query(question: str, passages: Sequence[Passage]) -> SignatureQuery:
    """Returns the call of a reader of spans that answers a question from passages.

    Each passage is a row, which is read without the others.
    """

    def read(outputs: Mapping[str, Any]) -> SpanAnswer:
        rows = range(len(passages))
        return join_spans([SpanAnswer.from_outputs(outputs, row) for row in rows], passages)

    texts = [[passage.text] for passage in passages]
    return SignatureQuery(
        "serving_default", {"question": [question] * len(texts), "passages": texts}, read
    )


def join_spans(answers: Sequence[SpanAnswer], passages: Sequence[Passage]) -> SpanAnswer:
    """Returns the answers from single passages as one, with one distribution over all spans.

    The probability of a span is that in its passage, times that of the passage: the softmax over
    the log-odds that a passage answers the question, plus 8 times its score. The best answer from a
    passage is confident if it is by itself, and the passage has a probability of at least 0.8.

    Args:
        answers: sequence of `SpanAnswer`. For each passage the answer from it alone.
        passages: sequence of `Passage`. The passages, with their scores.
    """
    odds = []
    for answer, passage in zip(answers, passages, strict=True):
        known = answer.answerable_probability
        chance = answer.probability or 0.0 if known is None else known
        odds.append(math.log((chance + TINY) / (1 - chance + TINY)) + PRIOR * passage.score)
    weights = [math.exp(each - max(odds)) for each in odds]
    found = [
        replace(
            each,
            passage=number,
            probability=(each.probability or 0.0) * weight / sum(weights),
            log_probability=None,
            is_confident=each is answer and each.is_confident and weight / sum(weights) >= LEAST,
            alternatives=(),
        )
        for number, (answer, weight) in enumerate(zip(answers, weights, strict=True))
        for each in (answer, *answer.alternatives)
        if each.text
    ]
    found.sort(key=lambda each: -(each.probability or 0.0))
    best, *others = found or [SpanAnswer("", is_confident=False)]
    return replace(best, alternatives=tuple(others))


def cite(result: Result, passages: Sequence[Passage], num_alternatives: int) -> DocumentAnswer:
    """Returns the answer of a predictor with its place in a document.

    Args:
        result: `Result`. An answer from the texts of the passages.
        passages: sequence of `Passage`. The passages that were read.
        num_alternatives: int. Largest number of alternatives.
    """
    kept = [_cited(result, passages)]
    for other in (_cited(each, passages) for each in result.alternatives):
        if len(kept) <= num_alternatives and not any(_overlap(other, each) for each in kept):
            kept.append(other)
    return replace(kept[0], alternatives=tuple(kept[1:]))


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
        passage=passage.text,
        passage_start=passage.start,
        **sentence,
    )


def _overlap(one: DocumentAnswer, other: DocumentAnswer) -> bool:
    return one.document == other.document and one.start < other.end and other.start < one.end
