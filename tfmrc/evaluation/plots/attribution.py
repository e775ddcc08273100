"""Attribution of generated words to their sources, shared by the page and the figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfmrc.evaluation.plots.style import COLOURS

SOURCES = ("vocabulary", "question", "passage")
SOURCE_COLOURS = dict(zip(SOURCES, COLOURS, strict=False))


@dataclass(frozen=True)
class AttributedWord:
    """A generated word, its source, its three weights, and its position in the source if known."""

    text: str
    source: str
    weights: tuple[float, float, float]
    passage: int | None
    start: int | None
    end: int | None

    @property
    def location(self) -> str:
        location = self.source
        if self.passage is not None:
            location += f" {self.passage + 1}"
        if self.start is not None:
            location += f", characters {self.start}-{self.end}"
        return location


def attribution_of(provenance: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the arguments of `attribution_html` from the `provenance` of a prediction.

    Args:
        provenance: list. One mapping per word with `word` (or `text`), `source`, `mixture`, and
            `passage`, `start`, `end` if known.

    Raises:
        ValueError: If a word lacks a field.

    Example:

    >>> attribution_of([{"word": "Ode", "source": "question", "mixture": [0.1, 0.9, 0]}])["words"]
    ['Ode']
    """
    for word in provenance:
        if not ({"word", "text"} & word.keys() and {"source", "mixture"} <= word.keys()):
            raise ValueError(
                "Each word of `provenance` needs 'word', 'source' and 'mixture'. "
                f"Received: {dict(word)!r}"
            )
    return {
        "words": [word.get("word", word.get("text")) for word in provenance],
        "sources": [word["source"] for word in provenance],
        "weights": [word["mixture"] for word in provenance],
        "positions": [
            (word.get("passage"), word.get("start"), word.get("end")) for word in provenance
        ],
    }


def check_words(words: Any, sources: Any, weights: Any, positions: Any) -> list[AttributedWord]:
    """Returns the words as records.

    Raises:
        ValueError: If lengths or sources do not fit, or a weight is not from 0 to 1.
    """
    table = np.asarray(weights, np.float64)
    if table.size == 0:
        table = table.reshape(0, 3)
    spans = [(None, None, None)] * len(words) if positions is None else list(positions)
    if table.shape != (len(words), 3) or not len(sources) == len(spans) == len(words):
        raise ValueError(
            "Each word needs a source, three weights and (if given) a position. Received: "
            f"{len(words)} words, {len(sources)} sources, weights of shape {table.shape}, "
            f"{len(spans)} positions"
        )
    if not ((table >= 0) & (table <= 1 + 1e-3)).all():
        raise ValueError(f"Weights must be from 0 to 1. Received: weights={table.tolist()}")
    unknown = sorted(set(sources) - set(SOURCES))
    if unknown:
        raise ValueError(f"A source must be one of {SOURCES}. Received: {unknown}")
    return [
        AttributedWord(str(word), source, tuple(float(x) for x in row), *span)  # type: ignore[arg-type]
        for word, source, row, span in zip(words, sources, table, spans, strict=True)
    ]
