"""Heat map of attention weights."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc.evaluation.plots.style import save_figure


def plot_heat_map(
    weights: Any,
    rows: Sequence[str],
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    title: str = "",
) -> list[Path]:
    """Plots attention weights: one row per word that attends, one column per word attended to.

    The colours range from 0 to the greatest weight, as in the self-attention of the question
    generation paper's Figure 5.

    Args:
        weights: `[rows, columns]`, not negative.
        rows: list of str. The words that attend.
        path: str or path. The files without their ending (a PNG and an SVG are written).
        columns: list of str or None. The words attended to. By default the same as the rows.
        title: str. Title of the figure. Default: "".

    Returns:
        The files written.

    Example:

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/map"
    >>> [file.suffix for file in plot_heat_map([[0.9, 0.1], [0.2, 0.8]], ["the", "mill"], path)]
    ['.png', '.svg']

    Reference:
        Zhao et al. 2018, Figure 5.
    """
    from matplotlib.figure import Figure

    across = list(rows if columns is None else columns)
    table = np.asarray(weights, np.float64)
    wide = min(max(3.5, 0.22 * len(across) + 2.0), 40.0)
    high = min(max(2.5, 0.22 * len(rows) + 1.2), 40.0)
    figure = Figure(figsize=(wide, high), layout="constrained")
    panel = figure.add_subplot()
    image = panel.imshow(table, cmap="Blues", vmin=0.0, vmax=float(table.max()) or 1.0)
    panel.set_xticks(range(len(across)), across, rotation=90, fontsize=7, parse_math=False)
    panel.set_yticks(range(len(rows)), rows, fontsize=7, parse_math=False)
    panel.tick_params(length=0)
    panel.set(xlabel="attended to", ylabel="attends")
    figure.colorbar(image, ax=panel, shrink=0.8, label="weight")
    return save_figure(figure, path, title)
