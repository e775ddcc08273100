"""An answer that is a span of a passage."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tfmrc.predictors.results.result import Result, row_of, string_of


@dataclass(frozen=True, kw_only=True)
class SpanAnswer(Result):
    """A span of a passage; `str(answer)` is its text, the passage's own characters.

    The probability is among all spans of all passages of the question. Those of the same text in
    several passages, but for capitals, white space and marks at its ends, are one answer: their
    probabilities add up, and the position is the most probable one.

    Attributes:
        start: int. Offset of the first character (code point) in the caller's passage; -1 if there
            is no answer. Default: -1.
        end: int. Offset after the last character. Default: -1.
        passage: int. Index of the passage; -1 if there is no answer. Default: -1.
        answerable_probability: float or None. The probability that the passages answer the
            question, of models that compute it. Default: None.
    """

    start: int = -1
    end: int = -1
    passage: int = -1
    answerable_probability: float | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Returns the position and the facts of every result.

        Example:

        >>> from tfmrc.predictors import SpanAnswer
        >>> print(SpanAnswer("an owl", start=4, end=10, passage=0, probability=0.5).describe())
        an owl
          passage 1, characters 4-10
          probability 0.5
        """
        position = f"{self.passage + 1}, characters {self.start}-{self.end}"
        return [("passage", position)] * (self.start >= 0) + super().facts()

    @classmethod
    def from_outputs(cls, outputs: Mapping[str, Any], row: int) -> "SpanAnswer":
        """Returns one row of a signature's outputs (arrays or the nested lists of a REST reply).

        Args:
            outputs: dict. What the signature returns, by name.
            row: int. Index of the example in the batch.
        """
        column = row_of(outputs, row)
        answerable = column.get("answerable_probability")

        def span(text: Any, start: Any, end: Any, passage: Any, probability: Any) -> SpanAnswer:
            return cls(
                string_of(text),
                start=int(start),
                end=int(end),
                passage=int(passage),
                probability=float(probability),
                log_probability=math.log(probability) if probability > 0 else None,
                is_confident=bool(column.get("is_confident", True)),
                truncated=bool(column["truncated"]),
                answerable_probability=None if answerable is None else float(answerable),
            )

        one = ("answer", "start", "end", "passage", "probability")
        best = span(*(column[name] for name in one))
        several = ("answers", "starts", "ends", "answer_passages", "probabilities")
        spans = [span(*values) for values in zip(*(column[name] for name in several), strict=True)]
        others = tuple(other for other in spans[1:] if other.start >= 0)
        return replace(best, alternatives=others)
