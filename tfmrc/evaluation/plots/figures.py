"""Pictures of scores: every function writes a PNG and an SVG and needs no display."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc.evaluation.metrics.answerability import PrecisionRecallCurve
from tfmrc.evaluation.metrics.groups import AnswerLength
from tfmrc.evaluation.metrics.resampling import Interval
from tfmrc.evaluation.plots.style import COLOURS, bars, panels, save_figure


def plot_learning_curves(
    log: str | Path,
    path: str | Path,
    *,
    metrics: Sequence[str] | None = None,
    x: str | None = None,
    title: str = "",
) -> list[Path]:
    """Learning curves from a CSV log as Keras' CSVLogger writes it; one panel a metric.

    `loss` and `val_loss` share a panel; empty cells are gaps.

    Args:
        log: the CSV file.
        path: the pictures' name without ending.
        metrics: the panels, by column without `val_`; by default all numeric columns.
        x: the column of the horizontal axis; by default the first one.
        title: of the figure.

    Returns:
        The files written.

    Raises:
        ValueError: the log has no rows, or a column is missing.
    """
    columns = _read_log(Path(log))
    across = x or next(iter(columns))
    names = list(metrics or dict.fromkeys(n.removeprefix("val_") for n in columns if n != across))
    unknown = [n for n in [across, *names] if not {n, f"val_{n}"} & columns.keys()]
    if unknown:
        raise ValueError(f"{log}: no such columns, there are {list(columns)}. Received: {unknown}")
    wide = min(3, len(names))
    figure, drawn = panels(len(names), wide)
    for panel, name in zip(drawn, names, strict=True):
        for column, label, colour in ((name, "train", 0), (f"val_{name}", "validation", 1)):
            if column in columns:
                panel.plot(
                    columns[across],
                    columns[column],
                    label=label,
                    color=COLOURS[colour],
                    marker="." if len(columns[across]) < 40 else None,
                )
        panel.set(xlabel=across, ylabel=name)
        panel.legend(frameon=False)
    return save_figure(figure, path, title)


def plot_runs(
    logs: Mapping[str, Sequence[str | Path]],
    path: str | Path,
    *,
    metric: str = "val_loss",
    x: str | None = None,
    title: str = "",
) -> list[Path]:
    """One learning curve a system in one picture (SAN's Figure 4).

    Args:
        logs: by system the CSV logs of its runs as Keras' CSVLogger writes them; of several runs
            the mean is drawn, as far as all of them go.
        path: the picture's name without ending.
        metric: the column that is drawn.
        x: the column of the horizontal axis; by default the first one.
        title: of the figure.

    Returns:
        The files written.

    Raises:
        ValueError: a log has no rows, or no such column.
    """
    figure, (panel,) = panels(1)
    for number, (system, several) in enumerate(logs.items()):
        tables = [_read_log(Path(log)) for log in several]
        across = x or next(iter(tables[0]))
        for log, columns in zip(several, tables, strict=True):
            unknown = sorted({across, metric} - columns.keys())
            if unknown:
                there = list(columns)
                raise ValueError(f"{log}: no such columns, there are {there}. Received: {unknown}")
        size = min(len(columns[across]) for columns in tables)
        panel.plot(
            tables[0][across][:size],
            np.mean([columns[metric][:size] for columns in tables], axis=0),
            label=system,
            color=COLOURS[number % len(COLOURS)],
            marker="." if size < 40 else None,
        )
        panel.set(xlabel=across, ylabel=metric)
    panel.legend(frameon=False)
    return save_figure(figure, path, title)


def plot_precision_recall(
    curve: PrecisionRecallCurve, path: str | Path, *, title: str = ""
) -> list[Path]:
    """The precision-recall curve with the point of the best F1 marked (Masque's Figure 4).

    Args:
        curve: from `precision_recall_curve`.
        path: the pictures' name without ending.
        title: of the figure.
    """
    figure, (panel,) = panels(1)
    recall = np.concatenate([[0.0], curve.recall])
    panel.plot(recall, np.concatenate([curve.precision[:1], curve.precision]), color=COLOURS[0])
    best = int(np.argmax(curve.f1))
    panel.plot(curve.recall[best], curve.precision[best], "o", color=COLOURS[1])
    panel.annotate(
        f"F1 {curve.best_f1:.4f} at {curve.best_threshold:.4f}",
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
    """Mean answer length by group with one bar a style; error bars are standard errors of the mean.

    Args:
        rows: from `answer_lengths`.
        path: the pictures' name without ending.
        title: of the figure.
    """
    found = {(row.style, row.group): row for row in rows}
    groups = list(dict.fromkeys(row.group for row in rows))
    styles = list(dict.fromkeys(row.style for row in rows))
    table = {
        style: [
            (found[style, g].mean, found[style, g].error) if (style, g) in found else (0, 0)
            for g in groups
        ]
        for style in styles
    }
    figure = bars(groups, table, "words")
    return save_figure(figure, path, title)


def plot_scores(
    scores: Mapping[str, Mapping[str, float | Interval]],
    path: str | Path,
    *,
    title: str = "",
    label: str = "score (%)",
) -> list[Path]:
    """Bars of scores, grouped: `{"system": {"ROUGE-L": 0.6, ...}, ...}`, one colour a system.

    Args:
        scores: fractions, or `Interval`s, which get error bars; by series, then by bar.
        path: the pictures' name without ending.
        title: of the figure.
        label: of the vertical axis.
    """
    names = list(dict.fromkeys(name for row in scores.values() for name in row))
    table: dict[str, list[Any]] = {}
    for series, row in scores.items():
        table[series] = []
        for name in names:
            value = row.get(name, 0.0)
            if isinstance(value, Interval):
                middle = 100 * value.value
                reach = ([middle - 100 * value.low], [100 * value.high - middle])
                table[series].append((middle, reach))
            else:
                table[series].append((100 * value, None))
    figure = bars(names, table, label)
    return save_figure(figure, path, title)


def _read_log(log: Path) -> dict[str, np.ndarray]:
    with log.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise ValueError(f"{log}: no rows to draw. Received: an empty log")
    columns = {}
    for name in rows[0]:
        try:
            columns[name] = np.array([float(row[name] or "nan") for row in rows])
        except (TypeError, ValueError):
            continue  # a column of words has no curve
    return columns
