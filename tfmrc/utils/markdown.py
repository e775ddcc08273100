"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def table_lines(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False
) -> list[str]:
    """Returns the lines of a table.

    Args:
        head: list of str. The names of the columns.
        rows: iterable of list of str. The cells of each row.
        numbers: bool. Whether all columns but the first have numbers, which are aligned right.
            Default: False.

    Example:

    >>> print(*table_lines(["", "a|b"], [["x", "1"]], numbers=True), sep="\\n")
    |  | a\\|b |
    | --- | ---: |
    | x | 1 |
    """
    rule = ["---", *["---:" if numbers else "---"] * (len(head) - 1)]
    escaped = ([cell.replace("|", "\\|") for cell in row] for row in (head, rule, *rows))
    return [f"| {' | '.join(cells)} |" for cells in escaped]
