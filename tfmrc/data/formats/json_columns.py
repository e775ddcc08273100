"""A JSON object of large columns, read row by row without holding it."""

import json
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from os import PathLike
from typing import IO, Any

import ijson

from tfmrc.data.formats.fields import Place, short
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
"""The number of rows by which a column may run ahead of the leader, where their orders differ."""

_LACKING = object()

Row = tuple[str, Any]


def json_rows(
    path: str | PathLike, leader: str, names: tuple[str, ...]
) -> Iterator[tuple[dict[str, Any], Place, RecordError | None]]:
    """The rows of a JSON object of columns, each a dict from column names to values.

    The file is read twice. The first pass checks it to its end and copies the rows of the columns
    in `names` to temporary files; the second pass runs along the leader, and one cursor per
    temporary file finds the row's other values. No more than the current row is held, as long as
    the columns list their rows in the same order; a column may run up to `LOOKAHEAD` rows ahead.

    Args:
        path: The file; a ``.gz`` is decompressed on the way.
        leader: The column whose order is taken: the largest one.
        names: The other columns; those that the file lacks are left out.

    Yields:
        A row's values by column, its location, and what is wrong with it, if something is: a
        column lacks it, repeats it, or nests it too deep. Rows that the leader lacks come last.

    Raises:
        RecordError: The leader is missing, a column occurs twice or is no object, something
            follows the object, or the file is cut short or no JSON.
    """
    with ExitStack() as stack:
        others = []
        for name, file in _copied(path, leader, names, stack).items():
            file.seek(0)
            others.append(_Cursor(map(_loaded, file), name, path))
        for key, value in _column(path, leader):
            record = {leader: value, **{other.name: other.find(key) for other in others}}
            place = Place(path, f"row {key!r}")
            wrong = next((v for v in record.values() if isinstance(v, RecordError)), None)
            lacking = next((name for name, v in record.items() if v is _LACKING), None)
            if lacking is not None and wrong is None:
                wrong = place.error("the column has no such row", lacking)
            yield record, place, wrong
        for key in dict.fromkeys(key for other in others for key in other.rest()):
            place = Place(path, f"row {key!r}")
            yield {}, place, place.error("the column has no such row", leader)


def _copied(
    path: str | PathLike, leader: str, names: tuple[str, ...], stack: ExitStack
) -> dict[str, IO[str]]:
    """Temporary files with the rows of the columns in `names`, one line of JSON per row."""
    seen: set[str] = set()
    files: dict[str, IO[str]] = {}
    place = Place(path, "columns")
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
                    raise place.error("the column occurs twice", name)
                seen.add(name)
                if name not in names:
                    skip_value(events)
                    continue
                files[name] = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
                for row in _rows(events, source, path, name):
                    files[name].write(_line(*row))
            deque(events, maxlen=0)  # read to the end: what follows the object is an error
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise json_error(error, path, f"column {name!r}" if name else "file") from error
    if leader not in seen:
        raise place.error("is missing", leader)
    return files


def _column(path: str | PathLike, name: str) -> Iterator[Row]:
    """The rows of a column of a file that has been checked."""
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
    """The rows of the column whose value comes next; one that is nested too deep is an error."""
    event, value = next(events)
    if event != "start_map":
        raise Place(path, "columns").error(f"must be an object. Received: {short(value)}", name)
    for event, key in events:
        if event == "end_map":
            return
        try:
            yield source.restored(key), source.restored(json_value(events))
        except TooDeep as error:
            yield key, Place(path, f"row {key!r}").error(str(error), name)


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
    """Runs along a column and finds rows by their keys."""

    def __init__(self, rows: Iterator[Row], name: str, path: str | PathLike) -> None:
        self.name = name
        self._rows, self._path = rows, path
        self._passed: dict[str, Any] = {}

    def find(self, key: str) -> Any:
        """The row's value, or the error in its place."""
        if key in self._passed:
            return self._passed.pop(key)
        while len(self._passed) < LOOKAHEAD and (row := next(self._rows, None)) is not None:
            if row[0] == key:
                return row[1]
            self._pass(*row)
        return _LACKING

    def rest(self) -> list[str]:
        """Keys of the rows that nobody asked for, at most LOOKAHEAD."""
        while len(self._passed) < LOOKAHEAD and (row := next(self._rows, None)) is not None:
            self._pass(*row)
        return list(self._passed)

    def _pass(self, key: str, value: Any) -> None:
        if key in self._passed:
            value = Place(self._path, f"row {key!r}").error("the row occurs twice", self.name)
        self._passed[key] = value
