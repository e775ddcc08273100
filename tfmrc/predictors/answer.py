"""What a predictor answers: text, the source of every word, and how sure the model is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["SOURCES", "Answer", "Word"]

#: Where a word can come from, in the order of the mixture weights.
SOURCES = ("vocabulary", "question", "passage")


@dataclass(frozen=True)
class Word:
    """One word of an answer and where it came from.

    Attributes:
        text: the word; a copied one that the vocabulary lacks as it stood in its source.
        source: `"vocabulary"`, `"question"` or `"passage"`: what contributed most to the word's
            probability.
        passage: index of the passage it was copied from, else None.
        start: offset of the first character (code point) in the question or passage, else None.
        end: offset behind the last character, else None.
        mixture: the weights of vocabulary, question and passages when the word was chosen.
    """

    text: str
    source: str
    passage: int | None
    start: int | None
    end: int | None
    mixture: tuple[float, float, float]


@dataclass(frozen=True)
class Answer:
    """An answer; `str(answer)` is its text.

    Attributes:
        text: the words with the spaces that English wants between them.
        words: the words one by one.
        relevance: one number from 0 to 1 a passage, None from a model without a ranker.
        answerable_probability: from 0 to 1, that the passages answer the question at all; None
            from a model without a classifier.
        score: what the decoder ordered its hypotheses by: the log-probability of the words, with
            a length penalty if one was asked for.
        truncated: True if the question or passages were longer, or more, than the model reads.
        finished: False if the answer was cut at the greatest length.
        alternatives: the other hypotheses, best first, where several were asked for.
    """

    text: str
    words: tuple[Word, ...] = ()
    relevance: tuple[float, ...] | None = None
    answerable_probability: float | None = None
    score: float | None = None
    truncated: bool = False
    finished: bool = True
    alternatives: tuple["Answer", ...] = ()

    def __str__(self) -> str:
        return self.text

    def describe(self) -> str:
        """Several lines for people: the answer, its words' sources, relevance and answerability.

        Example:

        >>> from tfmrc.predictors import Answer, Word
        >>> word = Word("8,611", "passage", 1, 7, 12, (0.25, 0.0, 0.75))
        >>> print(Answer("8,611", (word,), (0.125, 0.875), 0.75, -0.5).describe())
        8,611
          8,611  passage 2, characters 7-12  (vocabulary 0.25, question 0.00, passage 0.75)
          relevance  0.12 0.88
          answerable probability  0.75
          score  -0.500
        """
        lines = [self.text or "(no answer)"]
        width = max((len(word.text) for word in self.words), default=0)
        for word in self.words:
            place = word.source
            if word.passage is not None:
                place += f" {word.passage + 1}"
            if word.start is not None:
                place += f", characters {word.start}-{word.end}"
            weights = ", ".join(
                f"{name} {weight:.2f}" for name, weight in zip(SOURCES, word.mixture, strict=True)
            )
            lines.append(f"  {word.text:<{width}}  {place}  ({weights})")
        if self.relevance is not None:
            lines.append("  relevance  " + " ".join(f"{value:.2f}" for value in self.relevance))
        if self.answerable_probability is not None:
            lines.append(f"  answerable probability  {self.answerable_probability:.2f}")
        if self.score is not None:
            lines.append(f"  score  {self.score:.3f}")
        if self.truncated:
            lines.append("  the question or the passages were cut")
        if not self.finished:
            lines.append("  the answer was cut at the greatest length")
        return "\n".join(lines)

    @classmethod
    def from_outputs(
        cls, outputs: Mapping[str, Any], row: int, num_passages: int | None = None
    ) -> "Answer":
        """One row of a signature's outputs (arrays or the nested lists of a REST reply).

        Args:
            outputs: what the exported signature returns, by name.
            row: which example of the batch.
            num_passages: how many relevances to keep; None for all that the model has.
        """
        column = {name: values[row] for name, values in outputs.items()}
        relevance = column.get("relevance")
        if relevance is not None:
            relevance = tuple(float(value) for value in relevance[:num_passages])
        probability = column.get("answerable_probability")
        shared: dict[str, Any] = {
            "relevance": relevance,
            "answerable_probability": None if probability is None else float(probability),
            "truncated": bool(column["truncated"]),
        }
        if "answer" not in column:
            return cls(text="", **shared)
        return cls(
            text=string_of(column["answer"]),
            words=_words(column),
            score=float(column["score"]),
            finished=bool(column["finished"]),
            alternatives=tuple(
                cls(text=string_of(text), score=float(score), **shared)
                for text, score in zip(
                    column.get("alternatives", ()),
                    column.get("alternative_scores", ()),
                    strict=True,
                )
            ),
            **shared,
        )


def string_of(value: str | bytes) -> str:
    """The text of an output: bytes of an array, or a string of a REST reply."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _words(column: Mapping[str, Any]) -> tuple[Word, ...]:
    names = ("words", "sources", "passage_indices", "starts", "ends", "mixture")
    rows = zip(*(column[name] for name in names), strict=True)
    words = []
    for _, (text, source, passage, start, end, mixture) in zip(
        range(int(column["num_words"])), rows, strict=False
    ):
        weights = tuple(float(weight) for weight in mixture)
        words.append(
            Word(
                text=string_of(text),
                source=string_of(source),
                passage=int(passage) if passage >= 0 else None,
                start=int(start) if start >= 0 else None,
                end=int(end) if end >= 0 else None,
                mixture=(weights[0], weights[1], weights[2]),
            )
        )
    return tuple(words)
