"""Pictures of scores: every function writes a PNG and an SVG and needs no display."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tfmrc.evaluation.answerability import PrecisionRecallCurve
from tfmrc.evaluation.groups import AnswerLength
from tfmrc.evaluation.resampling import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#3b6fb6", "#d9822b", "#3a9a5b", "#a0509b", "#8a6d3b", "#666666")


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
    figure, panels = _panels(len(names), wide)
    for panel, name in zip(panels, names, strict=True):
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


def plot_precision_recall(
    curve: PrecisionRecallCurve, path: str | Path, *, title: str = ""
) -> list[Path]:
    """The precision-recall curve with the point of the best F1 marked (Masque's Figure 4).

    Args:
        curve: from `precision_recall_curve`.
        path: the pictures' name without ending.
        title: of the figure.
    """
    figure, (panel,) = _panels(1)
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
    bars = {(row.style, row.group): row for row in rows}
    groups = list(dict.fromkeys(row.group for row in rows))
    styles = list(dict.fromkeys(row.style for row in rows))
    table = {
        style: [
            (bars[style, g].mean, bars[style, g].error) if (style, g) in bars else (0, 0)
            for g in groups
        ]
        for style in styles
    }
    figure = _bars(groups, table, "words")
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
    figure = _bars(names, table, label)
    return save_figure(figure, path, title)


def save_figure(figure: "Figure", path: str | Path, title: str = "") -> list[Path]:
    """Write a figure as `<path>.png` and `<path>.svg` (the same bytes for the same figure)."""
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


def _panels(count: int, wide: int = 1) -> tuple["Figure", list[Any]]:
    from matplotlib.figure import Figure

    high = -(-count // wide)
    figure = Figure(figsize=(5.2 * wide, 3.6 * high), layout="constrained")
    panels = [figure.add_subplot(high, wide, place + 1) for place in range(count)]
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", alpha=0.3)
    return figure, panels


def _bars(names: Sequence[str], table: Mapping[str, Sequence[Any]], label: str) -> "Figure":
    figure, (panel,) = _panels(1)
    figure.set_size_inches(max(5.2, 1.1 + 0.35 * len(names) * (len(table) + 1)), 3.6)
    width = 0.8 / max(1, len(table))
    for number, (series, bars) in enumerate(table.items()):
        places = np.arange(len(names)) + (number - (len(table) - 1) / 2) * width
        colour = COLOURS[number % len(COLOURS)]
        panel.bar(places, [bar[0] for bar in bars], width, color=colour, label=series)
        for place, (value, reach) in zip(places, bars, strict=True):
            if reach:
                panel.errorbar(place, value, reach, color="black", capsize=2, linewidth=1)
    turn = 30 if len(names) > 6 else 0
    panel.set_xticks(np.arange(len(names)), names, rotation=turn, parse_math=False)
    panel.set(ylabel=label)
    if len(table) > 1:
        key = panel.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        for text in key.get_texts():
            text.set_parse_math(False)
    return figure


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
