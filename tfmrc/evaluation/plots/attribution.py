"""Where the words of an answer came from: what the page and the picture of it share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfmrc.evaluation.plots.style import COLOURS

SOURCES = ("vocabulary", "question", "passage")
SOURCE_COLOURS = dict(zip(SOURCES, COLOURS, strict=False))


@dataclass(frozen=True)
class AttributedWord:
    """A generated word, its source, three weights, and its place in the source where known."""

    text: str
    source: str
    weights: tuple[float, float, float]
    passage: int | None
    start: int | None
    end: int | None

    @property
    def place(self) -> str:
        where = self.source
        if self.passage is not None:
            where += f" {self.passage + 1}"
        return where if self.start is None else f"{where}, characters {self.start}-{self.end}"


def attribution_of(provenance: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The arguments of `attribution_html` from the `provenance` of a prediction file.

    Each word is a mapping with `word` (or `text`), `source`, `mixture`, and `passage`, `start`,
    `end` where known.

    Raises:
        ValueError: a word lacks a field.

    Example:

    >>> attribution_of([{"word": "Ode", "source": "question", "mixture": [0.1, 0.9, 0]}])["words"]
    ['Ode']
    """
    for word in provenance:
        if not ({"word", "text"} & word.keys() and {"source", "mixture"} <= word.keys()):
            raise ValueError(
                "provenance needs 'word', 'source' and 'mixture' of each word. "
                f"Received: {dict(word)!r}"
            )
    return {
        "words": [word.get("word", word.get("text")) for word in provenance],
        "sources": [word["source"] for word in provenance],
        "weights": [word["mixture"] for word in provenance],
        "places": [
            (word.get("passage"), word.get("start"), word.get("end")) for word in provenance
        ],
    }


def check_words(words: Any, sources: Any, weights: Any, places: Any) -> list[AttributedWord]:
    """The words as records.

    Raises:
        ValueError: lengths or sources do not fit, or a weight is not from 0 to 1.
    """
    table = np.asarray(weights, np.float64)
    if table.size == 0:
        table = table.reshape(0, 3)
    spots = [(None, None, None)] * len(words) if places is None else list(places)
    if table.shape != (len(words), 3) or not len(sources) == len(spots) == len(words):
        raise ValueError(
            "each word needs a source, three weights and (if given) a place. Received: "
            f"{len(words)} words, {len(sources)} sources, weights of shape {table.shape}, "
            f"{len(spots)} places"
        )
    if not ((table >= 0) & (table <= 1 + 1e-3)).all():
        raise ValueError(f"weights are from 0 to 1. Received: weights={table.tolist()}")
    unknown = sorted(set(sources) - set(SOURCES))
    if unknown:
        raise ValueError(f"a source is one of {SOURCES}. Received: {unknown}")
    return [
        AttributedWord(str(word), source, tuple(float(x) for x in row), *spot)  # type: ignore[arg-type]
        for word, source, row, spot in zip(words, sources, table, spots, strict=True)
    ]
