"""Tables on the terminal (rich)."""

from collections.abc import Mapping, Sequence

from tfmrc.evaluation.metrics.resampling import Interval
from tfmrc.evaluation.metrics.score import Scores


def show_scores(scores: Scores, intervals: Mapping[str, Interval] | None = None) -> None:
    """Prints scores in per cent with their size and scorer, and the counts of unscored examples."""
    intervals = intervals or {}
    head = ["score", "%", *(["interval"] if intervals else []), "n", "scorer", "note"]
    rows = []
    for name, row in scores.items():
        value = "–" if row.value is None else f"{100 * row.value:.2f}"
        bounds = str(intervals[name]).split(" ", 1)[1] if name in intervals else ""
        cells = [row.label, value, *([bounds] if intervals else []), str(row.size)]
        rows.append([*cells, f"{row.scorer} {row.version}", row.note])
    if not any(cells[-1] for cells in rows):
        head, rows = head[:-1], [cells[:-1] for cells in rows]
    counted = ", ".join(f"{name} {count}" for name, count in scores.counts.items() if count)
    show_rows(head, rows, title=scores.rules, caption=counted)


def show_rows(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", caption: str = ""
) -> None:
    """Prints a table; columns of numbers are aligned to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, caption=caption or None, title_justify="left")
    for column, name in enumerate(head):
        cells = [row[column] for row in rows]
        numbers = bool(cells) and all(_is_number(cell) for cell in cells)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def _is_number(text: str) -> bool:
    try:
        float(text.replace("–", "0"))
    except ValueError:
        return False
    return True
