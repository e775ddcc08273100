"""Attribution of generated words to their sources, shared by the page and the figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

    Example:

    >>> attribution_of([{"word": "Ode", "source": "question", "mixture": [0.1, 0.9, 0]}])["words"]
    ['Ode']
    """
    return {
        "words": [word["word"] if "word" in word else word["text"] for word in provenance],
        "sources": [word["source"] for word in provenance],
        "weights": [word["mixture"] for word in provenance],
        "positions": [
            (word.get("passage"), word.get("start"), word.get("end")) for word in provenance
        ],
    }


def attributed_words(
    words: Sequence[str], sources: Sequence[str], weights: Any, positions: Any = None
) -> list[AttributedWord]:
    """Returns the words as records."""
    spans = [(None, None, None)] * len(words) if positions is None else positions
    return [
        AttributedWord(word, source, tuple(map(float, row)), *span)  # type: ignore[arg-type]
        for word, source, row, span in zip(words, sources, weights, spans, strict=True)
    ]
