"""Mixture weights of each generated word as a figure (Masque's Figure 1)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tfmrc.evaluation.plots.attribution import SOURCE_COLOURS, SOURCES, attributed_words
from tfmrc.evaluation.plots.style import save_figure


def plot_attribution(
    words: Sequence[str],
    sources: Sequence[str],
    weights: Sequence[Sequence[float]],
    path: str | Path,
    *,
    title: str = "",
) -> list[Path]:
    """Plots the generated words with stacked bars of their three weights (PNG and SVG).

    Args:
        words: list of str. The generated words.
        sources: list of str. `"vocabulary"`, `"question"` or `"passage"` for each word.
        weights: list. The weights of vocabulary, question and passages for each word, `[T, 3]`.
        path: str or path. The files without their ending.
        title: str. Title of the figure. Default: "".
    """
    from matplotlib.figure import Figure

    rows = attributed_words(words, sources, weights)
    figure = Figure(
        figsize=(min(max(4.0, 0.62 * len(rows) + 1.4), 40.0), 3.2), layout="constrained"
    )
    panel = figure.add_subplot()
    table = np.array([row.weights for row in rows]).reshape(-1, 3)
    floor = np.zeros(len(rows))
    for column, source in enumerate(SOURCES):
        label = f"{source}s" if source == "passage" else source
        panel.bar(
            range(len(rows)),
            table[:, column],
            0.9,
            floor,
            color=SOURCE_COLOURS[source],
            label=label,
        )
        floor += table[:, column]
    texts = [row.text for row in rows]
    panel.set_xticks(range(len(rows)), texts, rotation=45, ha="right", parse_math=False)
    for tick, row in zip(panel.get_xticklabels(), rows, strict=True):
        tick.set_color(SOURCE_COLOURS[row.source])
    panel.set(ylabel="mixture weight", ylim=(0, 1.0))
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return save_figure(figure, path, title)
