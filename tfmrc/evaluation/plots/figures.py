"""Figures of scores, each written as PNG and SVG without a display."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tfmrc.evaluation.metrics.answerability import PrecisionRecallCurve
from tfmrc.evaluation.metrics.groups import AnswerLength
from tfmrc.evaluation.metrics.score import shortest
from tfmrc.evaluation.plots.style import COLOURS, bars, name_entries, panels, save_figure


def plot_learning_curves(log: str | Path, path: str | Path, *, title: str = "") -> list[Path]:
    """Plots learning curves from a log of Keras' CSVLogger, one panel per metric.

    `loss` and `val_loss` share a panel, over the first column. Empty cells are gaps.

    Args:
        log: str or path. The CSV file.
        path: str or path. The files without their ending.
        title: str. Title of the figure. Default: "".

    Returns:
        The files written.

    Raises:
        ValueError: If the log has no rows.
    """
    columns = _read_log(Path(log))
    across, *others = columns
    names = list(dict.fromkeys(name.removeprefix("val_") for name in others))
    wide = min(3, len(names))
    figure, axes = panels(len(names), wide)
    for panel, name in zip(axes, names, strict=True):
        for column, label, colour in ((name, "train", 0), (f"val_{name}", "validation", 1)):
            if column in columns:
                panel.plot(
                    columns[across],
                    columns[column],
                    label=label,
                    color=COLOURS[colour],
                    marker="." if len(columns[across]) < 40 else None,
                )
        panel.set_xlabel(across, parse_math=False)
        panel.set_ylabel(name, parse_math=False)
        panel.legend(frameon=False)
    return save_figure(figure, path, title)


def plot_runs(
    logs: Mapping[str, Sequence[str | Path]],
    path: str | Path,
    *,
    metric: str = "val_loss",
    title: str = "",
) -> list[Path]:
    """Plots one learning curve per system in one panel (SAN's Figure 4).

    Args:
        logs: dict. The logs of Keras' CSVLogger of the runs of each system. The mean of several
            runs is plotted, up to the end of the shortest.
        path: str or path. The files without their ending.
        metric: str. The column to plot. Default: "val_loss".
        title: str. Title of the figure. Default: "".

    Returns:
        The files written.

    Raises:
        ValueError: If a log has no rows.
    """
    figure, (panel,) = panels(1)
    for number, files in enumerate(logs.values()):
        tables = [_read_log(Path(log)) for log in files]
        across = next(iter(tables[0]))
        size = min(len(columns[across]) for columns in tables)
        panel.plot(
            tables[0][across][:size],
            np.mean([columns[metric][:size] for columns in tables], axis=0),
            label=str(number),
            color=COLOURS[number % len(COLOURS)],
            marker="." if size < 40 else None,
        )
        panel.set_xlabel(across, parse_math=False)
        panel.set_ylabel(metric, parse_math=False)
    name_entries(panel.legend(frameon=False), logs)
    return save_figure(figure, path, title)


def plot_precision_recall(
    curve: PrecisionRecallCurve, path: str | Path, *, title: str = ""
) -> list[Path]:
    """Plots the precision-recall curve with the point of the best F1 (Masque's Figure 4).

    Args:
        curve: `PrecisionRecallCurve`. The result of `precision_recall_curve`.
        path: str or path. The files without their ending.
        title: str. Title of the figure. Default: "".

    Returns:
        The files written.
    """
    figure, (panel,) = panels(1)
    recall = np.concatenate([[0.0], curve.recall])
    panel.plot(recall, np.concatenate([curve.precision[:1], curve.precision]), color=COLOURS[0])
    best = int(np.argmax(curve.f1))
    below = float(curve.thresholds[best + 1]) if best + 1 < len(curve.thresholds) else -np.inf
    threshold = curve.best_threshold
    shown = shortest(threshold, lambda value: below < value <= threshold)
    panel.plot(curve.recall[best], curve.precision[best], "o", color=COLOURS[1])
    panel.annotate(
        f"F1 {curve.best_f1:.4f} at {shown}",
        (curve.recall[best], curve.precision[best]),
        textcoords="offset points",
        xytext=(-8, -14),
        ha="right",
    )
    panel.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.05))
    return save_figure(figure, path, title)


def plot_answer_lengths(
    rows: Sequence[AnswerLength], path: str | Path, *, title: str = ""
) -> list[Path]:
    """Plots the mean answer length by group, one bar per style.

    Error bars are standard errors of the mean.

    Args:
        rows: list of `AnswerLength`. The result of `answer_lengths`.
        path: str or path. The files without their ending.
        title: str. Title of the figure. Default: "".

    Returns:
        The files written.
    """
    cells = {(row.style, row.group): row for row in rows}
    groups = list(dict.fromkeys(row.group for row in rows))
    styles = list(dict.fromkeys(row.style for row in rows))
    table = {
        style: [
            (cells[style, g].mean, cells[style, g].error) if (style, g) in cells else (0, 0)
            for g in groups
        ]
        for style in styles
    }
    figure = bars(groups, table, "words")
    return save_figure(figure, path, title)


def plot_scores(
    scores: Mapping[str, Mapping[str, float]],
    path: str | Path,
    *,
    title: str = "",
    label: str = "score (%)",
) -> list[Path]:
    """Plots scores as grouped bars, one colour per system.

    Args:
        scores: dict. Fractions by system and score (`{"system": {"ROUGE-L": 0.6, ...}, ...}`).
        path: str or path. The files without their ending.
        title: str. Title of the figure. Default: "".
        label: str. Label of the vertical axis. Default: "score (%)".

    Returns:
        The files written.
    """
    names = list(dict.fromkeys(name for row in scores.values() for name in row))
    table = {
        series: [(100 * row.get(name, 0.0), None) for name in names]
        for series, row in scores.items()
    }
    return save_figure(bars(names, table, label), path, title)


def _read_log(log: Path) -> dict[str, np.ndarray]:
    with log.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    columns = {}
    for name in rows[0]:
        try:
            columns[name] = np.array([float(row[name] or "nan") for row in rows])
        except (TypeError, ValueError):
            continue  # a column of text has no curve
    return columns
