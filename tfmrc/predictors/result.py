"""The fields that every predictor's results have in common."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from tfmrc.predictors.result_html import result_html

__all__ = ["Result", "string_of"]


@dataclass(frozen=True, kw_only=True)
class Result:
    """Text that a model found or generated; `str(result)` is the text.

    Attributes:
        text: str. The answer or question; `""` if there is none.
        probability: float or None. Probability of the text's words, or of the span's two ends.
            Default: None.
        log_probability: float or None. Its logarithm, which does not underflow for long texts.
            Default: None.
        truncated: bool. True if an input was longer than the model reads. Default: False.
        finished: bool. False if the text was cut at the greatest length. Default: True.
        alternatives: tuple of `Self`. The other hypotheses, best first, if several were requested.
            Default: ().
    """

    text: str = field(kw_only=False)
    probability: float | None = None
    log_probability: float | None = None
    truncated: bool = False
    finished: bool = True
    alternatives: tuple[Self, ...] = ()

    def __str__(self) -> str:
        return self.text

    def describe(self) -> str:
        """Returns a readable description: the text, details, probability, alternatives."""
        lines = [self.text or "(no words)", *self.details()]
        if self.probability is not None:
            lines.append(f"  probability {self.probability:.3g}")
        lines += [f"  or: {other.text}{other.in_brackets()}" for other in self.alternatives]
        if self.truncated:
            lines.append("  the input was longer than the model reads and was cut")
        if not self.finished:
            lines.append("  the text was cut at the greatest length")
        return "\n".join(lines)

    def details(self) -> Sequence[str]:
        """Returns the lines of `describe` that only this kind of result has."""
        return ()

    def in_brackets(self) -> str:
        """Returns the probability in brackets, or `""` if it is unknown."""
        return "" if self.probability is None else f" ({self.probability:.3g})"

    def html_rows(self) -> Sequence[tuple[str, str]]:
        """Returns the facts that only this kind of result has, as HTML, for a notebook."""
        return ()

    def _repr_html_(self) -> str:
        return result_html(self, html.escape(self.text or "(no words)"), self.html_rows())

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as a JSON-serialisable dict; unknown ones are left out.

        Example:

        >>> from tfmrc.predictors import Result
        >>> Result("an owl", probability=0.5).to_json()
        {'text': 'an owl', 'probability': 0.5, 'truncated': False, 'finished': True}
        """
        return json_of(self)


def json_of(value: Any) -> Any:
    """Returns a dataclass, and dataclasses in its tuples, as dicts and lists; no None, no ()."""
    if isinstance(value, tuple):
        return [json_of(item) for item in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    pairs = ((each.name, getattr(value, each.name)) for each in fields(value))
    return {name: json_of(item) for name, item in pairs if item is not None and item != ()}


def string_of(value: str | bytes) -> str:
    """Returns the text of an output: bytes of an array, or a string of a REST reply."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def row_of(outputs: Mapping[str, Any], row: int) -> dict[str, Any]:
    """Returns one example's part of a signature's outputs."""
    return {name: values[row] for name, values in outputs.items()}
