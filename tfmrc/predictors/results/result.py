"""What all results of predictors have in common."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self


def best_guess(text: str, probability: float | None) -> str:
    """Returns what is shown in place of an answer that is not confident."""
    chance = "" if probability is None else f" ({probability:.2f})"
    return f"No confident answer. Best guess: {text}{chance}"


@dataclass(frozen=True, kw_only=True)
class Result:
    """Text that a model found or generated; `str(result)` is the text.

    Attributes:
        text: str. The answer or question; `""` if there is none.
        probability: float or None. Probability of the text's words, or of the span, among all
            answers and "no answer"; of a calibrated predictor, that the answer is right.
            Default: None.
        log_probability: float or None. Its logarithm; of a written text always that of its words,
            which does not underflow. Default: None.
        is_confident: bool. False if the predictor refuses: the probability of the best answer is
            below `min_probability`, or by default below the threshold of the calibration; without
            a calibration, "no answer" is more probable. Default: True.
        truncated: bool. True if an input was longer than the model reads. Default: False.
        finished: bool. False if the text was cut at the greatest length. Default: True.
        alternatives: tuple of `Self`. The other hypotheses, best first, if several were requested.
            Default: ().
    """

    text: str = field(kw_only=False)
    probability: float | None = None
    log_probability: float | None = None
    is_confident: bool = True
    truncated: bool = False
    finished: bool = True
    alternatives: tuple[Self, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def headline(self) -> str:
        """The text, a guess with its probability if it is not confident, or "no answer".

        Example:

        >>> from tfmrc.predictors import Result
        >>> Result("an owl", probability=0.1, is_confident=False).headline
        'No confident answer. Best guess: an owl (0.10)'
        """
        if not self.text and getattr(self, "answer", None) is None:  # no question about one
            return "No answer in these passages."
        return self.text if self.is_confident else best_guess(self.text, self.probability)

    def facts(self) -> list[tuple[str, str]]:
        """Returns names and values of what `describe` and a notebook show below the text."""
        pairs = []
        if self.text and self.probability is not None:
            pairs.append(("probability", f"{self.probability:.3g}"))
        for other in self.alternatives:
            chance = "" if other.probability is None else f" ({other.probability:.3g})"
            pairs.append(("or:", f"{other.text or 'no answer'}{chance}"))
        if self.truncated:
            pairs.append(("note:", "the input was longer than the model reads and was cut"))
        if not self.finished:
            pairs.append(("note:", "the text was cut at the greatest length"))
        return pairs

    def describe(self) -> str:
        """Returns a readable description: the text, details, probability, alternatives."""
        facts = (f"  {name} {value}" for name, value in self.facts())
        return "\n".join([self.headline, *facts])

    def html_rows(self) -> list[tuple[str, str]]:
        """Returns `facts` as HTML, for a notebook."""
        return [(html.escape(name), html.escape(value)) for name, value in self.facts()]

    def _repr_html_(self) -> str:
        """Returns HTML without scripts and without external resources."""
        left = "text-align:left"
        rows = "".join(
            f'<tr><td style="{left};opacity:0.7">{name}</td><td style="{left}">{value}</td></tr>'
            for name, value in self.html_rows()
        )
        table = f"<table>{rows}</table>" if rows else ""
        text = html.escape(self.headline)
        return f'<div><p style="font-size:1.2em">{text}</p>{table}</div>'

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as a JSON-serialisable dict; unknown ones are left out.

        Example:

        >>> from tfmrc.predictors import Result
        >>> Result("an owl").to_json()
        {'text': 'an owl', 'is_confident': True, 'truncated': False, 'finished': True}
        """
        result: dict[str, Any] = json_of(self)
        return result


def json_of(value: Any) -> Any:
    """Returns a dataclass, and dataclasses in its tuples, as dicts and lists; no None, no ()."""
    if isinstance(value, tuple):
        return [json_of(item) for item in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {name: json_of(item) for name, item in pairs if item is not None and item != ()}


def string_of(value: str | bytes) -> str:
    """Returns the text of an output: bytes of an array, or a string of a REST reply."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def row_of(outputs: Mapping[str, Any], row: int) -> dict[str, Any]:
    """Returns one example's part of a signature's outputs."""
    return {name: values[row] for name, values in outputs.items()}
