"""CSV files row by row, with the places of the rows, so that one can be read again."""

import csv
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import IO

from tfmrc.data.formats.fields import Place, short
from tfmrc.data.stream import RecordError, Report, open_binary

FIELD_LIMIT = 1 << 24
"""Characters of a field; Python's own limit of 131,072 is less than a long summary."""

csv.field_size_limit(max(csv.field_size_limit(), FIELD_LIMIT))


@contextmanager
def seekable(path: str | PathLike) -> Iterator[IO[bytes]]:
    """A file that can be read from any place; a compressed one is unpacked to the disk before."""
    with open(path, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    with open_binary(path, skip_mark=False) as file:
        if not packed:
            yield file
            return
        with tempfile.TemporaryFile() as unpacked:
            shutil.copyfileobj(file, unpacked)
            unpacked.seek(0)
            yield unpacked


def csv_rows(
    file: IO[bytes], path: str | PathLike, columns: tuple[str, ...], report: Report
) -> Iterator[tuple[Place, int, dict[str, str]]]:
    """The rows of a CSV file with a header.

    Args:
        file: the file, at its beginning.
        path: its name, for errors.
        columns: columns that must be there.
        report: takes the broken rows.

    Yields:
        Where the row stands (for errors), its first byte, and its values by column.

    Raises:
        RecordError: if a column is missing, or the file ends inside a row.
    """
    lines = _Lines(file, path)
    rows = csv.reader(lines, strict=True)
    try:
        header = next(rows, None)
    except csv.Error as error:
        raise RecordError(f"no CSV ({error})", path=path, record="line 1") from error
    if header is None:
        raise RecordError("the file is empty", path=path, record="file")
    header[0] = header[0].removeprefix("\ufeff")
    for column in columns:
        if column not in header:
            raise RecordError(
                f"the column is missing. Received: {', '.join(map(short, header))}",
                path=path,
                record="header",
                field=column,
            )
    while True:
        begin, place = lines.position, Place(path, f"line {lines.number + 1}")
        try:
            row = next(rows, None)
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise place.error("the file ends too early (inside a quotation)") from error
            report.error(place.error(f"no CSV ({error})"))
            continue
        if row is None:
            return
        if not row:
            continue
        if len(row) != len(header):
            report.error(
                place.error(f"must have {len(header)} values. Received: {len(row)} of them")
            )
            continue
        yield place, begin, dict(zip(header, row, strict=True))


def csv_row(file: IO[bytes], path: str | PathLike, begin: int, header: list[str]) -> dict[str, str]:
    """The row that begins at a place."""
    file.seek(begin)
    row = next(csv.reader(_Lines(file, path), strict=True))
    return dict(zip(header, row, strict=True))


class _Lines:
    """Lines of text, counted, with the place behind the last one."""

    def __init__(self, file: IO[bytes], path: str | PathLike) -> None:
        self._file, self._path = file, path
        self.position = 0
        self.number = 0

    def __iter__(self) -> "Iterator[str]":
        return self

    def __next__(self) -> str:
        line = self._file.readline()
        if not line:
            raise StopIteration
        self.number += 1
        self.position += len(line)
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise RecordError(
                f"the text is no UTF-8 ({error.reason})",
                path=self._path,
                record=f"line {self.number}",
            ) from error
