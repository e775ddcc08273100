"""An answer that is a span of a passage."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfmrc.predictors.result import Result, row_of, string_of

__all__ = ["SpanAnswer"]


@dataclass(frozen=True, kw_only=True)
class SpanAnswer(Result):
    """A span of a passage; `str(answer)` is its text, the passage's own characters.

    The probability is `P_begin * P_end`. For a passage that is read in windows, it is that in the
    best window.

    Attributes:
        start: int. Offset of the first character (code point) in the caller's passage; -1 if the
            passage has no words. Default: -1.
        end: int. Offset after the last character. Default: -1.
        passage: int. Index of the passage. Default: 0.
        score: float or None. The probability times the passage's relevance, by which answers from
            different passages are ordered. Default: None.
        answerable_probability: float or None. The probability that the passages answer the
            question, of models that compute it. Default: None.
    """

    start: int = -1
    end: int = -1
    passage: int = 0
    score: float | None = None
    answerable_probability: float | None = None

    def details(self) -> Sequence[str]:
        """Returns a line with the position.

        Example:

        >>> from tfmrc.predictors import SpanAnswer
        >>> print(SpanAnswer("an owl", start=4, end=10, probability=0.5).describe())
        an owl
          passage 1, characters 4-10
          probability 0.5
        """
        if self.start < 0:
            return ()
        return (f"  passage {self.passage + 1}, characters {self.start}-{self.end}",)

    def html_rows(self) -> Sequence[tuple[str, str]]:
        """Returns the position of the span."""
        if self.start < 0:
            return ()
        return (("position", f"passage {self.passage + 1}, characters {self.start}-{self.end}"),)

    @classmethod
    def from_outputs(cls, outputs: Mapping[str, Any], row: int) -> "SpanAnswer":
        """Returns one row of a signature's outputs (arrays or the nested lists of a REST reply).

        Args:
            outputs: dict. What the exported signature returns, by name.
            row: int. Index of the example in the batch.
        """
        column = row_of(outputs, row)
        names = ("answers", "starts", "ends", "probabilities")
        answerable = column.get("answerable_probability")
        passages = column.get("answer_passages", [0] * len(column["answers"]))
        spans = [
            cls(
                string_of(text),
                start=int(start),
                end=int(end),
                probability=float(probability),
                log_probability=math.log(probability) if probability > 0 else None,
                score=float(probability),
                truncated=bool(column["truncated"]),
                passage=int(passage),
                answerable_probability=None if answerable is None else float(answerable),
            )
            for passage, text, start, end, probability in zip(
                passages, *(column[n] for n in names), strict=True
            )
        ]
        others = tuple(span for span in spans[1:] if span.start >= 0)
        best = spans[0]
        if int(column.get("start", best.start)) < 0:  # no answer, or a passage without words
            chance = column.get("probability", best.probability)
            none = 0.0 if chance is None else float(chance)
            log = math.log(none) if none > 0 else None
            best = replace(
                best, text="", start=-1, end=-1,
                probability=none, log_probability=log, score=none,
            )  # fmt: skip
            others = ()
        return replace(best, alternatives=others)
