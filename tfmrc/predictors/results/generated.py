"""Generated answers and questions, and the source of every word."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from tfmrc.predictors.results.result import Result, row_of, string_of

#: The sources of words, in the order of the mixture weights.
SOURCES = ("vocabulary", "question", "passage")
#: Their colours; with this opacity they are readable on light and dark pages.
COLOURS = ("rgba(214,127,30,0.35)", "rgba(137,94,196,0.35)", "rgba(30,150,140,0.35)")
PER_WORD = "words sources word_passages word_starts word_ends mixture source_texts".split()
PER_CANDIDATE = (
    "questions answers answer_starts probabilities log_probabilities finished truncated".split()
)
CANDIDATE = "text answer answer_start probability log_probability finished truncated".split()


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

    def origin(self) -> str:
        """Returns a readable line: source, position and the weights of the sources."""
        passage = "" if self.passage is None else f" {self.passage + 1}"
        place = "" if self.start is None else f", characters {self.start}-{self.end}"
        if self.source_text is not None and self.source_text != self.text:
            place += f", written {self.source_text!r}"
        pairs = zip(SOURCES, self.mixture, strict=True)
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in pairs)
        return f"{self.source}{passage}{place}  ({weights})"


@dataclass(frozen=True, kw_only=True)
class GeneratedText(Result):
    """A generated answer or question; `str(generated)` is its text.

    The words are joined by the spacing rules of English. See `Word` for their normalisation and
    for the exact characters of the sources.

    Attributes:
        passage: int or None. Index of the passage that all words were copied from; None if there
            is no such passage. Default: None.
        words: tuple of `Word`. The words, of models that tell their sources. Default: ().
        relevance: tuple of float or None. A number from 0 to 1 per passage; None without a trained
            ranker. Default: None.
        answerable_probability: float or None. Probability that the passages answer the question at
            all; None without a trained classifier. Default: None.
        score: float or None. The score of the search: the log-probability of the words, with a
            length penalty if one was requested. Default: None.
        answer: str or None. The answer that a question asks about; `""` if the model was given
            none. Default: None.
        answer_start: int or None. Offset of that answer's first character (code point) in the
            caller's passage; None if the model does not locate it. Default: None.
    """

    passage: int | None = None
    words: tuple[Word, ...] = ()
    relevance: tuple[float, ...] | None = None
    answerable_probability: float | None = None
    score: float | None = None
    answer: str | None = None
    answer_start: int | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Returns answer, relevance and score, and the facts of every result."""
        pairs = []
        if self.answer:
            place = "" if self.answer_start is None else f" (character {self.answer_start})"
            pairs.append(("about", f"{self.answer}{place}"))
        if self.relevance is not None:
            pairs.append(("relevance", " ".join(f"{value:.2f}" for value in self.relevance)))
        if self.score is not None:
            pairs.append(("score", f"{self.score:.3f}"))
        return pairs + super().facts()

    def describe(self) -> str:
        """Returns the text, a line per word, and the facts.

        Example:

        >>> from tfmrc.predictors import GeneratedText, Word
        >>> word = Word("8,611", "passage", 1, 7, 12, (0.25, 0.0, 0.75))
        >>> text = GeneratedText("8,611", words=(word,), relevance=(0.125, 0.875), score=-0.5)
        >>> print(text.describe())
        8,611
          8,611  passage 2, characters 7-12  (vocabulary 0.25, question 0.00, passage 0.75)
          relevance 0.12 0.88
          score -0.500
        """
        width = max((len(word.text) for word in self.words), default=0)
        words = [f"  {word.text:<{width}}  {word.origin()}" for word in self.words]
        first, *rest = super().describe().split("\n")
        return "\n".join([first, *words, *rest])

    def html_rows(self) -> list[tuple[str, str]]:
        """Returns the words in the colours of their sources, and the facts, as HTML."""
        style = "background:{};padding:0.1em 0.3em;border-radius:0.2em"
        styles = {name: style.format(c) for name, c in zip(SOURCES, COLOURS, strict=True)}
        words = [
            f'<span title="{html.escape(word.origin())}" style="{styles[word.source]}">'
            f"{html.escape(word.text)}</span>"
            for word in self.words
        ]
        key = [f'<span style="{styles[name]}">{name}</span>' for name in SOURCES]
        rows = [("words", " ".join(words)), ("sources", " ".join(key))] if words else []
        return rows + super().html_rows()

    @classmethod
    def from_outputs(
        cls, outputs: Mapping[str, Any], row: int, *, num_passages: int | None = None, **fields: Any
    ) -> Self:
        """Returns one row of a signature's outputs: the best text, the others as alternatives.

        Args:
            outputs: dict. Outputs of the signature, by name (arrays or the nested lists of a REST
                reply).
            row: int. Index of the example in the batch.
            num_passages: int or None. Number of relevances to return; None for all. Default: None.
            **fields: Further fields of every result.
        """
        column = row_of(outputs, row)
        fields["truncated"] = bool(column.get("truncated", False))
        fields["is_confident"] = bool(column.get("is_confident", True))
        if "relevance" in column:
            fields["relevance"] = tuple(float(x) for x in column["relevance"][:num_passages])
        if "answerable_probability" in column:
            fields["answerable_probability"] = float(column["answerable_probability"])
        if "answer_start" in column:
            fields["answer_start"] = int(column["answer_start"])
        texts = column.get("answers", column.get("questions"))
        if texts is None:  # a user's own signature with one answer, or a model without a decoder
            chance = column.get("probability")
            fields["probability"] = None if chance is None else float(chance)
            return cls(string_of(column.get("answer", "")), **fields)
        names = {"probability": "probabilities", "log_probability": "log_probabilities"}
        names |= {"finished": "finished", "score": "scores"}
        kinds: dict[str, Any] = {"finished": bool}
        best, *others = (
            cls(
                string_of(text),
                **{
                    field: kinds.get(field, float)(column[name][rank])
                    for field, name in names.items()
                    if name in column
                },
                **fields,
            )
            for rank, text in enumerate(texts)
        )
        passage = int(column.get("passage", -1))
        return replace(
            best,
            passage=None if passage < 0 else passage,
            words=_words(column) if "words" in column else (),
            alternatives=tuple(others),
        )

    @classmethod
    def of_candidates(cls, outputs: Mapping[str, Any], row: int) -> list[Self]:
        """Returns one row of the outputs of `generate_from_passage`: a question per answer.

        Args:
            outputs: dict. Outputs of the signature, by name.
            row: int. Index of the passage in the batch.
        """
        columns = [outputs[name][row] for name in PER_CANDIDATE]
        kinds: Sequence[Any] = (string_of, string_of, int, float, float, bool, bool)
        found = [
            [kind(value) for kind, value in zip(kinds, values, strict=True)]
            for values in zip(*columns, strict=True)
        ]
        return [
            cls(**dict(zip(CANDIDATE, values, strict=True))) for values in found if values[2] >= 0
        ]


def _words(column: Mapping[str, Any]) -> tuple[Word, ...]:
    def known(value: Any) -> int | None:
        return int(value) if value >= 0 else None

    rows = list(zip(*(column[name] for name in PER_WORD), strict=True))
    return tuple(
        Word(
            text=string_of(text),
            source=string_of(source),
            passage=known(passage),
            start=known(start),
            end=known(end),
            mixture=(float(weights[0]), float(weights[1]), float(weights[2])),
            source_text=string_of(written) if start >= 0 else None,
        )
        for text, source, passage, start, end, weights, written in rows[: column["num_words"]]
    )
