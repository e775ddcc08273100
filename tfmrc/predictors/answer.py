"""A generated answer, the source of every word, relevance and answerability."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfmrc.predictors.result import Result, row_of, string_of
from tfmrc.predictors.result_html import key_html, words_html

__all__ = ["SOURCES", "Answer", "Word"]

#: The sources of words, in the order of the mixture weights.
SOURCES = ("vocabulary", "question", "passage")


@dataclass(frozen=True)
class Word:
    """One word of an answer and its source.

    Attributes:
        text: str. The word of the answer. A word of the generation vocabulary is lower-cased and
            normalised (NFKC); any other copied word is as at its first occurrence in the source.
        source: str. `"vocabulary"`, `"question"` or `"passage"`: the largest contribution to the
            word's probability.
        passage: int or None. Index of the passage it was copied from.
        start: int or None. Offset of its first character (code point) in the caller's question or
            passage.
        end: int or None. Offset after its last character.
        mixture: tuple of float. The weights of vocabulary, question and passages at this word.
        source_text: str or None. The copied word as the question or passage writes it: its
            characters from `start` to `end`, neither lower-cased nor normalised. Default: None.
    """

    text: str
    source: str
    passage: int | None
    start: int | None
    end: int | None
    mixture: tuple[float, float, float]
    source_text: str | None = None


@dataclass(frozen=True, kw_only=True)
class Answer(Result):
    """A generated answer; `str(answer)` is its text.

    The words are joined by the spacing rules of English. See `Word` for their normalisation and
    for the exact characters of the sources.

    Attributes:
        words: tuple of `Word`. The words. Default: ().
        relevance: tuple of float or None. A number from 0 to 1 per passage; None without a trained
            ranker. Default: None.
        answerable_probability: float or None. Probability that the passages answer the question at
            all; None without a trained classifier. Default: None.
        score: float or None. The score of the search: the log-probability of the words, with a
            length penalty if one was requested. Default: None.
    """

    words: tuple[Word, ...] = ()
    relevance: tuple[float, ...] | None = None
    answerable_probability: float | None = None
    score: float | None = None

    def details(self) -> Sequence[str]:
        """Returns a line per word, relevance, answerability and score.

        Example:

        >>> from tfmrc.predictors import Answer, Word
        >>> word = Word("8,611", "passage", 1, 7, 12, (0.25, 0.0, 0.75))
        >>> print(Answer("8,611", words=(word,), relevance=(0.125, 0.875), score=-0.5).describe())
        8,611
          8,611  passage 2, characters 7-12  (vocabulary 0.25, question 0.00, passage 0.75)
          relevance 0.12 0.88
          score -0.500
        """
        lines = []
        width = max((len(word.text) for word in self.words), default=0)
        for word in self.words:
            position = word.source
            if word.passage is not None:
                position += f" {word.passage + 1}"
            if word.start is not None:
                position += f", characters {word.start}-{word.end}"
            if word.source_text is not None and word.source_text != word.text:
                position += f", written {word.source_text!r}"
            weights = ", ".join(
                f"{name} {weight:.2f}" for name, weight in zip(SOURCES, word.mixture, strict=True)
            )
            lines.append(f"  {word.text:<{width}}  {position}  ({weights})")
        if self.relevance is not None:
            lines.append("  relevance " + " ".join(f"{value:.2f}" for value in self.relevance))
        if self.answerable_probability is not None:
            lines.append(f"  answerable probability {self.answerable_probability:.2f}")
        if self.score is not None:
            lines.append(f"  score {self.score:.3f}")
        return lines

    def html_rows(self) -> Sequence[tuple[str, str]]:
        """Returns the words in the colours of their sources, relevance and answerability."""
        rows = []
        if self.words:
            rows += [("words", words_html(self.words)), ("sources", key_html())]
        if self.relevance is not None:
            rows.append(("relevance", " ".join(f"{value:.2f}" for value in self.relevance)))
        if self.answerable_probability is not None:
            rows.append(("answerable probability", f"{self.answerable_probability:.2f}"))
        return rows

    @classmethod
    def from_outputs(
        cls, outputs: Mapping[str, Any], row: int, num_passages: int | None = None
    ) -> "Answer":
        """Returns one row of a signature's outputs (arrays or the nested lists of a REST reply).

        Args:
            outputs: dict. Outputs of the exported signature, by name.
            row: int. Index of the example in the batch.
            num_passages: int or None. Number of relevances to return; None for all. Default: None.
        """
        column = row_of(outputs, row)
        relevance = column.get("relevance")
        if relevance is not None:
            relevance = tuple(float(value) for value in relevance[:num_passages])
        answerable = column.get("answerable_probability")
        shared: dict[str, Any] = {
            "relevance": relevance,
            "answerable_probability": None if answerable is None else float(answerable),
            "truncated": bool(column["truncated"]),
        }
        if "answer" not in column:
            return cls("", **shared)
        names = ("alternatives", "alternative_scores", "alternative_log_probabilities")
        others = [column.get(name, ()) for name in names]
        # Exports of earlier versions do not tell.
        others.append(column.get("alternative_finished", [True] * len(others[0])))
        return cls(
            string_of(column["answer"]),
            probability=float(column["probability"]),
            log_probability=float(column["log_probability"]),
            words=_words(column),
            score=float(column["score"]),
            finished=bool(column["finished"]),
            alternatives=tuple(
                cls(
                    string_of(text),
                    probability=math.exp(log_probability),
                    log_probability=float(log_probability),
                    score=float(score),
                    finished=bool(finished),
                    **shared,
                )
                for text, score, log_probability, finished in zip(*others, strict=True)
            ),
            **shared,
        )


def _words(column: Mapping[str, Any]) -> tuple[Word, ...]:
    names = (
        "words",
        "sources",
        "passage_indices",
        "starts",
        "ends",
        "mixture",
        "source_texts",
    )
    rows = zip(*(column[name] for name in names), strict=True)
    words = []
    for _, (text, source, passage, start, end, mixture, written) in zip(
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
                source_text=string_of(written) if start >= 0 else None,
            )
        )
    return tuple(words)
