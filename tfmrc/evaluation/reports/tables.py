"""Tables on the terminal (rich)."""

from collections.abc import Sequence


def show_rows(head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str) -> None:
    """Prints a table; columns of numbers are aligned to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for column, name in enumerate(head):
        numbers = all(row[column][:1].isdigit() for row in rows)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)
