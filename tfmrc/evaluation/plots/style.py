"""Style of the figures: colours, panels, bars, and their files."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#3b6fb6", "#d9822b", "#3a9a5b", "#a0509b", "#8a6d3b", "#666666")


def save_figure(figure: "Figure", path: str | Path, title: str = "") -> list[Path]:
    """Writes a figure as `<path>.png` and `<path>.svg` (the same bytes for the same figure)."""
    from matplotlib import rc_context

    base = Path(path)
    base = base.with_suffix("") if base.suffix in (".png", ".svg") else base
    base.parent.mkdir(parents=True, exist_ok=True)
    if title:
        figure.suptitle(title, parse_math=False)
    files = [base.with_name(base.name + ending) for ending in (".png", ".svg")]
    with rc_context({"svg.hashsalt": "tfmrc"}):
        figure.savefig(files[0], dpi=150)
        figure.savefig(files[1], metadata={"Date": None})
    return files


def panels(count: int, wide: int = 1) -> tuple["Figure", list[Any]]:
    """Returns an empty figure with `count` panels, `wide` of them per row."""
    from matplotlib.figure import Figure

    high = -(-count // wide)
    figure = Figure(figsize=(5.2 * wide, 3.6 * high), layout="constrained")
    axes = [figure.add_subplot(high, wide, index + 1) for index in range(count)]
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", alpha=0.3)
    return figure, axes


def bars(names: Sequence[str], table: Mapping[str, Sequence[Any]], label: str) -> "Figure":
    """Returns grouped bars: a height and an error (or None) per series and name."""
    figure, (panel,) = panels(1)
    figure.set_size_inches(max(5.2, 1.1 + 0.35 * len(names) * (len(table) + 1)), 3.6)
    width = 0.8 / max(1, len(table))
    for number, row in enumerate(table.values()):
        positions = np.arange(len(names)) + (number - (len(table) - 1) / 2) * width
        colour = COLOURS[number % len(COLOURS)]
        panel.bar(positions, [bar[0] for bar in row], width, color=colour, label=str(number))
        for position, (value, reach) in zip(positions, row, strict=True):
            if reach:
                panel.errorbar(position, value, reach, color="black", capsize=2, linewidth=1)
    turn = 30 if len(names) > 6 else 0
    panel.set_xticks(np.arange(len(names)), names, rotation=turn, parse_math=False)
    panel.set_ylabel(label, parse_math=False)
    if len(table) > 1:
        key = panel.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        name_entries(key, table)
    return figure


def name_entries(legend: Any, names: Iterable[str]) -> None:
    """Sets the texts of a legend as they are; Matplotlib has no entry for a label as `_small`."""
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
