"""A JSON object of large columns, read row by row in bounded memory."""

import json
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from os import PathLike
from typing import IO, Any

import ijson

from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.formats.json_stream import (
    Events,
    JSONFile,
    TooDeep,
    json_error,
    json_events,
    json_value,
    skip_value,
)
from tfmrc.data.stream import RecordError, open_binary

LOOKAHEAD = 1000
"""The number of rows by which a column may be ahead of the leader, where their orders differ."""

_LACKING = object()

Row = tuple[str, Any]


def json_rows(
    path: str | PathLike, leader: str, names: tuple[str, ...]
) -> Iterator[tuple[dict[str, Any], RecordLocation, RecordError | None]]:
    """Yields the rows of a JSON object of columns, each a dict from column names to values.

    The file is read twice. The first pass checks the whole file and copies the rows of the columns
    in `names` to temporary files. The second pass reads the leader, and one cursor per temporary
    file finds the other values of the row. Only the current row is held in memory if the columns
    list their rows in the same order. A column may be up to `LOOKAHEAD` rows ahead.

    Args:
        path: str or path. The file, which may be gzipped.
        leader: str. The column that gives the order, the largest one.
        names: tuple of str. The other columns; missing ones are left out.

    Yields:
        The row's values by column, its location, and a `RecordError` or None. A row is an error if
        a column lacks it, repeats it or nests it too deeply. Rows that the leader lacks come last.

    Raises:
        RecordError: The leader is missing, a column occurs twice or is not an object, data follows
            the object, or the file is truncated or not JSON.
    """
    with ExitStack() as stack:
        others = []
        for name, file in _copied(path, leader, names, stack).items():
            file.seek(0)
            others.append(_Cursor(map(_loaded, file), name, path))
        for key, value in _column(path, leader):
            record = {leader: value, **{other.name: other.find(key) for other in others}}
            location = RecordLocation(path, f"row {key!r}")
            wrong = next((v for v in record.values() if isinstance(v, RecordError)), None)
            lacking = next((name for name, v in record.items() if v is _LACKING), None)
            if lacking is not None and wrong is None:
                wrong = location.error(
                    f"the column has no such row, or the column {leader!r} has it twice", lacking
                )
            yield record, location, wrong
        for key in dict.fromkeys(key for other in others for key in other.rest()):
            location = RecordLocation(path, f"row {key!r}")
            yield (
                {},
                location,
                location.error(
                    "the column has no such row, or another column has it twice", leader
                ),
            )


def _copied(
    path: str | PathLike, leader: str, names: tuple[str, ...], stack: ExitStack
) -> dict[str, IO[str]]:
    """Copies the columns in `names` to temporary files, one line of JSON per row."""
    seen: set[str] = set()
    files: dict[str, IO[str]] = {}
    location = RecordLocation(path, "columns")
    name = ""
    with open_binary(path) as binary:
        source = JSONFile(binary)
        events = json_events(source)
        try:
            next(events)  # the beginning of the object
            for event, name in events:
                if event == "end_map":
                    break
                if name in seen:
                    raise location.error("the column occurs twice", name)
                seen.add(name)
                if name not in names:
                    skip_value(events)
                    continue
                files[name] = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
                for row in _rows(events, source, path, name):
                    files[name].write(_line(*row))
            deque(events, maxlen=0)  # reads to the end: data after the object is an error
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise json_error(error, path, f"column {name!r}" if name else "file") from error
    if leader not in seen:
        raise location.error("is missing", leader)
    return files


def _column(path: str | PathLike, name: str) -> Iterator[Row]:
    """Yields the rows of a column of a file that has been checked."""
    with open_binary(path) as binary:
        source = JSONFile(binary)
        events = json_events(source)
        try:
            next(events)
            for _, key in events:
                if key == name:
                    yield from _rows(events, source, path, name)
                    return
                skip_value(events)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise json_error(error, path, f"column {name!r}") from error


def _rows(events: Events, source: JSONFile, path: str | PathLike, name: str) -> Iterator[Row]:
    """Yields the rows of the next column; a row that is nested too deeply gives an error."""
    event, value = next(events)
    if event != "start_map":
        raise RecordLocation(path, "columns").error(
            f"must be an object. Received: {short(value)}", name
        )
    for event, key in events:
        if event == "end_map":
            return
        try:
            yield source.restored(key), source.restored(json_value(events))
        except TooDeep as error:
            yield key, RecordLocation(path, f"row {key!r}").error(str(error), name)


def _line(key: str, value: Any) -> str:
    if isinstance(value, RecordError):
        return json.dumps([key, None, value.message, value.path, value.record, value.field]) + "\n"
    return json.dumps([key, value]) + "\n"


def _loaded(line: str) -> Row:
    key, value, *error = json.loads(line)
    if error:
        message, path, record, field = error
        return key, RecordError(message, path=path, record=record, field=field)
    return key, value


class _Cursor:
    """A cursor that moves along a column and finds rows by key."""

    def __init__(self, rows: Iterator[Row], name: str, path: str | PathLike) -> None:
        self.name = name
        self._rows, self._path = rows, path
        self._passed: dict[str, Any] = {}

    def find(self, key: str) -> Any:
        """Returns the row's value, or its error."""
        if key in self._passed:
            return self._passed.pop(key)
        while len(self._passed) < LOOKAHEAD and (row := next(self._rows, None)) is not None:
            if row[0] == key:
                return row[1]
            self._pass(*row)
        return _LACKING

    def rest(self) -> list[str]:
        """Returns the keys of the rows that were not looked up, at most LOOKAHEAD."""
        while len(self._passed) < LOOKAHEAD and (row := next(self._rows, None)) is not None:
            self._pass(*row)
        return list(self._passed)

    def _pass(self, key: str, value: Any) -> None:
        if key in self._passed:
            value = RecordLocation(self._path, f"row {key!r}").error(
                "the row occurs twice", self.name
            )
        self._passed[key] = value
