"""Plots of scores, attention and attribution."""

from tfmrc.evaluation.plots.attribution import attribution_of
from tfmrc.evaluation.plots.attribution_figure import plot_attribution
from tfmrc.evaluation.plots.attribution_page import attribution_html
from tfmrc.evaluation.plots.figures import (
    plot_answer_lengths,
    plot_learning_curves,
    plot_precision_recall,
    plot_runs,
    plot_scores,
)
from tfmrc.evaluation.plots.heat_map import plot_heat_map
from tfmrc.evaluation.plots.style import save_figure

__all__ = [
    "attribution_html",
    "attribution_of",
    "plot_answer_lengths",
    "plot_attribution",
    "plot_heat_map",
    "plot_learning_curves",
    "plot_precision_recall",
    "plot_runs",
    "plot_scores",
    "save_figure",
]
