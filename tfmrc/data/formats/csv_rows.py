"""CSV files, read row by row."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.stream import Account, RecordError

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
    rows = csv.reader(lines, strict=True, delimiter=delimiter)
    header = RecordLocation(path, "header")
    try:
        names = next(rows, [])
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
            account.error(location.error(f"not CSV ({error})"))
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


def named_cells(names: Sequence[str], row: Sequence[Any], header: RecordLocation) -> dict[str, Any]:
    """Returns the cells of a row by column.

    Spreadsheets write columns without a name, which nothing can ask for.

    Raises:
        RecordError: A column is there twice.
    """
    cells = {name: cell for name, cell in zip(names, row, strict=False) if name}
    if len(cells) < sum(map(bool, names)):
        repeated = next(name for name in names if name and names.count(name) > 1)
        raise header.error("the column is there twice", repeated)
    return cells
