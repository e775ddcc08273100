"""CSV files, read row by row."""

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from os import PathLike
from typing import Any

from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.stream import Account, RecordError

_LINES = 1000  # of a quoted value, at most

# Most characters of a field. Python's limit of 131,072 is too small for a long summary.
csv.field_size_limit(max(csv.field_size_limit(), 1 << 24))


def csv_rows(
    lines: Iterable[str],
    path: str | PathLike,
    columns: tuple[str, ...],
    account: Account,
    *,
    delimiter: str = ",",
) -> Iterator[tuple[RecordLocation, dict[str, str]]]:
    """Yields the rows of a CSV file with a header.

    Args:
        lines: iterable of str. The lines with their ends, as of `open_text(path, newline="")`.
        path: str or path. Name of the file, for errors.
        columns: tuple of str. Required columns.
        account: `Account`. Receives the errors of broken rows.
        delimiter: str. Character between two values. Default: ",".

    Yields:
        The row's location (for errors), and a dict from column to value.

    Raises:
        RecordError: A column is missing, or the file ends inside a row.
    """
    read = partial(csv.reader, strict=True, delimiter=delimiter)
    rows: Any = _Tabbed(lines) if delimiter == "\t" else read(lines)
    header = RecordLocation(path, "header")
    try:
        names: list[str] = next(rows, [])
        if names == ["sep=", ""]:  # for Excel: the delimiter of the file
            names = next(rows, [])
    except csv.Error as error:
        raise header.error(f"not CSV ({error})") from error
    for column in columns:
        if column not in names:
            raise header.error(
                f"the column is missing. Received: {', '.join(map(short, names))}", column
            )
    while True:
        location = RecordLocation(path, f"line {rows.line_num + 1}", rows.line_num + 1)
        try:
            row = next(rows, None)
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise location.error("the file ends too early (inside a quotation)") from error
            doubled = "quotation marks inside a quoted value are doubled"
            account.error(location.error(f"not CSV ({error}); {doubled}"))
            continue
        if row is None:
            break
        if row and len(row) != len(names):
            account.error(
                location.error(f"must have {len(names)} values. Received: {len(row)} values")
            )
        elif row:
            yield location, named_cells(names, row, header)
    if not names:
        raise RecordError("the file is empty", path=path, record="file")


class _Tabbed:
    """The rows of values between tabs, in the manner of `csv.reader`.

    Quotation marks quote where they enclose a whole value, which may contain tabs and line breaks.
    All others are text, so that a mark that opens and never closes swallows no rows.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self._held = iter(lines), deque[str]()
        self._width = self.line_num = 0

    def __next__(self) -> list[str]:
        first = self._take()
        if not first:
            raise StopIteration
        row = first.rstrip("\r\n").split("\t") if first.strip() else []
        if '"' in first:
            row = self._quoted(first) or row
        if row[:1] != ["sep="]:
            self._width = self._width or len(row)
        return row

    def _quoted(self, first: str) -> list[str] | None:
        """Returns the row that begins with a line, if its quotation marks enclose values."""
        lines = [first]
        while len(lines) < _LINES:
            with suppress(csv.Error):  # a value goes on in the next line
                row = next(csv.reader(lines, delimiter="\t", strict=True))
                if len(row) == (self._width or len(row)):
                    return row
                break
            if len(lines) > 1 and lines[-1].count("\t") + 1 == self._width:  # a row of its own
                break
            lines.append(self._take())
            if not lines[-1]:
                break
        self._held.extendleft(reversed(lines[1:]))
        self.line_num -= len(lines) - 1
        return None

    def _take(self) -> str:
        """Returns the next line; "" after the last one."""
        self.line_num += 1
        return self._held.popleft() if self._held else next(self._lines, "")


def named_cells(names: Sequence[str], row: Sequence[Any], header: RecordLocation) -> dict[str, Any]:
    """Returns the cells of a row by column.

    Spreadsheets write columns without a name, which nothing can ask for.

    Raises:
        RecordError: A column occurs twice.
    """
    cells = {name: cell for name, cell in zip(names, row, strict=False) if name}
    if len(cells) < sum(map(bool, names)):
        repeated = next(name for name in names if name and names.count(name) > 1)
        raise header.error("the column occurs twice", repeated)
    return cells
