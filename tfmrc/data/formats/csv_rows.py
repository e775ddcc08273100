"""CSV files, read row by row with the offsets of the rows."""

import csv
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import IO

from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.stream import SAVE_AS, RecordError, Report, open_binary

FIELD_LIMIT = 1 << 24
"""Most characters of a field. Python's limit of 131,072 is too small for a long summary."""

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

csv.field_size_limit(max(csv.field_size_limit(), FIELD_LIMIT))


@contextmanager
def seekable(path: str | PathLike) -> Iterator[IO[bytes]]:
    """Opens a file for random access; a gzip file is first decompressed to a temporary file."""
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
    file: IO[bytes],
    path: str | PathLike,
    columns: tuple[str, ...],
    report: Report,
    *,
    delimiter: str = ",",
) -> Iterator[tuple[RecordLocation, int, dict[str, str]]]:
    """Yields the rows of a CSV file with a header.

    Args:
        file: binary file, at its beginning.
        path: str or path. Name of the file, for errors.
        columns: tuple of str. Required columns.
        report: `Report`. Receives the errors of broken rows.
        delimiter: str. Character between two values. Default: ",".

    Yields:
        The row's location (for errors), the offset of its first byte, and a dict from column to
        value.

    Raises:
        RecordError: A column is missing, or the file ends inside a row.
    """
    lines = _Lines(file, path)
    rows = csv.reader(lines, strict=True, delimiter=delimiter)
    try:
        header = _header(rows)
    except csv.Error as error:
        raise RecordError(f"not CSV ({error})", path=path, record="line 1") from error
    if header is None:
        raise RecordError("the file is empty", path=path, record="file")
    # Spreadsheets write columns without a name, which nothing can ask for.
    repeated = next((name for name in header if name and header.count(name) > 1), None)
    if repeated is not None:
        raise RecordError("the column is there twice", path=path, record="header", field=repeated)
    for column in columns:
        if column not in header:
            raise RecordError(
                f"the column is missing. Received: {', '.join(map(short, header))}",
                path=path,
                record="header",
                field=column,
            )
    while True:
        begin, location = lines.position, RecordLocation(path, f"line {lines.number + 1}")
        try:
            row = next(rows, None)
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise location.error("the file ends too early (inside a quotation)") from error
            report.error(location.error(f"not CSV ({error})"))
            continue
        if row is None:
            return
        if not row:
            continue
        if len(row) != len(header):
            report.error(
                location.error(f"must have {len(header)} values. Received: {len(row)} values")
            )
            continue
        named = zip(header, row, strict=True)
        yield location, begin, {name: value for name, value in named if name}


def csv_row(file: IO[bytes], path: str | PathLike, begin: int) -> dict[str, str]:
    """Returns the row that begins at byte `begin`, one that `csv_rows` has yielded."""
    file.seek(0)
    header = _header(csv.reader(_Lines(file, path), strict=True)) or []
    file.seek(begin)
    row = next(csv.reader(_Lines(file, path, begin), strict=True))
    return {name: value for name, value in zip(header, row, strict=True) if name}


def _header(rows: Iterator[list[str]]) -> list[str] | None:
    """Returns the names of the columns; None if the file is empty."""
    header = next(rows, None)
    if header == ["sep=", ""]:  # for Excel: the delimiter of the file
        header = next(rows, None)
    return header


class _Lines:
    """Yields lines of text and tracks the line number and the byte offset after the last line."""

    def __init__(self, file: IO[bytes], path: str | PathLike, position: int = 0) -> None:
        self._file, self._path = file, path
        self._lines: list[bytes] = []
        self.position = position
        self.number = 0

    def __iter__(self) -> "Iterator[str]":
        return self

    def __next__(self) -> str:
        if not self._lines:
            # Old Macintosh files end lines by a carriage return alone, where bytes are not cut.
            self._lines = _LINE.findall(self._file.readline())[::-1]
        if not self._lines:
            raise StopIteration
        line = self._lines.pop()
        # The mark at the beginning would be part of a name, and hide its quotation.
        encoding = "utf-8" if self.position else "utf-8-sig"
        self.number += 1
        self.position += len(line)
        try:
            return line.decode(encoding)
        except UnicodeDecodeError as error:
            raise RecordError(
                f"the text is not UTF-8 ({error.reason}); {SAVE_AS}",
                path=self._path,
                record=f"line {self.number}",
            ) from error
