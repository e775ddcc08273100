"""Values of JSON files, one at a time."""

import json
import re
from collections.abc import Iterator
from os import PathLike
from typing import IO, Any

import ijson

from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.stream import RecordError, Report

# A lone high surrogate, which the parser would read as "?". An escape that a piece cuts is none.
_LONE = re.compile(
    rb"[^\\](?:\\\\)*\\u[dD][89abAB]..(?!\\u[dD][c-fC-F]|(?:\\|\\u|\\u[dD])?\Z)", re.DOTALL
)


class _ValidText:
    """A file in which a lone surrogate is an error."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._last = file, b""

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        piece = self._last + data
        if (found := _LONE.search(piece)) is not None:
            raise ijson.JSONError(f"lone surrogate {found[0][-6:].decode()}")
        self._last = piece[-64:]
        return data


def json_items(
    file: IO[bytes], path: str | PathLike, name: str | None, record: str
) -> Iterator[tuple[int, Any]]:
    """Yields the items of a list in a JSON file, one at a time.

    Args:
        file: binary file, at its beginning.
        path: str or path. Name of the file, for errors.
        name: str or None. Key of the list in the outermost object; None if the file is the list.
        record: str. Name of an item for errors, such as "article".

    Yields:
        The item's number, from 1, and the item.

    Raises:
        RecordError: The file is truncated or not JSON, or the list is missing or empty.
    """
    number = 0
    prefix = "item" if name is None else f"{name}.item"
    try:
        for number, item in enumerate(ijson.items(_ValidText(file), prefix, use_float=True), 1):
            yield number, item
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise _json_error(error, path, f"after {record} {number}") from error
    if not number:
        raise RecordError(f"contains no {record}", path=path, record="file", field=name)


def json_lines(
    file: IO[bytes], path: str | PathLike, report: Report
) -> Iterator[tuple[RecordLocation, Any]]:
    """Yields the values of a file of JSON lines; blank lines are skipped.

    Raises:
        RecordError: The file has no line.
    """
    location = None
    for number, line in enumerate(file, 1):
        if line.isspace():
            continue
        location = RecordLocation(path, f"line {number}")
        try:
            value = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            report.error(location.error(f"not JSON ({error}). Received: {short(line)}"))
            continue
        yield location, value
    if location is None:
        raise RecordError("contains no record", path=path, record="file")


def _json_error(error: Exception, path: str | PathLike, record: str) -> RecordError:
    """Converts an error of the parser to a `RecordError` of one line."""
    message = error.args[0] if isinstance(error, ijson.JSONError) else str(error)
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    reason = (text.strip().splitlines() or ["premature EOF"])[0].rstrip(".")
    what = "the file ends too early" if "premature EOF" in reason else "the file is not JSON"
    return RecordError(f"{what} ({reason})", path=path, record=record)
