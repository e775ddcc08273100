"""What a predictor of spans answers: the exact words of the passage, where they stand, how sure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tfmrc.predictors.answer import string_of

__all__ = ["SpanAnswer"]


@dataclass(frozen=True)
class SpanAnswer:
    """A span of a passage; `str(answer)` is its text.

    Attributes:
        text: the passage's own characters from `start` to `end`; "" if the passage has no words.
        start: offset of the first character (code point), -1 if there is none.
        end: offset behind the last one.
        probability: `P_begin * P_end`; of a passage that is read in several windows, that in its
            best window.
        score: what answers from several passages are ordered by: the probability times the
            passage's relevance.
        passage: number of the passage it is from.
        truncated: True if the question or the passage was longer than what is read.
        alternatives: the next best spans, best first, where several were asked for.
    """

    text: str
    start: int
    end: int
    probability: float
    score: float
    passage: int = 0
    truncated: bool = False
    alternatives: tuple["SpanAnswer", ...] = ()

    def __str__(self) -> str:
        return self.text

    def describe(self) -> str:
        """Several lines for people.

        Example:

        >>> from tfmrc.predictors import SpanAnswer
        >>> print(SpanAnswer("an owl", 4, 10, 0.5, 0.5).describe())
        an owl
          passage 1, characters 4-10, probability 0.500
        """
        lines = [
            self.text or "(no answer)",
            f"  passage {self.passage + 1}, characters {self.start}-{self.end}, "
            f"probability {self.probability:.3f}",
        ]
        lines += [f"  or: {other.text} ({other.probability:.3f})" for other in self.alternatives]
        if self.truncated:
            lines.append("  the question or the passage was cut")
        return "\n".join(lines)

    @classmethod
    def from_outputs(cls, outputs: Mapping[str, Any], row: int) -> "SpanAnswer":
        """One row of a signature's outputs (arrays or the nested lists of a REST reply).

        Args:
            outputs: what the exported signature returns, by name.
            row: which example of the batch.
        """
        column = {name: values[row] for name, values in outputs.items()}
        names = ("answers", "starts", "ends", "probabilities")
        spans = [
            cls(
                string_of(text),
                int(start),
                int(end),
                float(probability),
                float(probability),
                truncated=bool(column["truncated"]),
            )
            for text, start, end, probability in zip(*(column[n] for n in names), strict=True)
        ]
        others = tuple(span for span in spans[1:] if span.start >= 0)
        return replace(spans[0], alternatives=others)
