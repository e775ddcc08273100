"""A JSON object of large columns, read row by row without holding it."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from os import PathLike
from typing import IO, Any

import ijson
import numpy as np

from tfmrc.data.fields import json_error
from tfmrc.data.stream import RecordError, open_binary

CHUNK = 1 << 22
BUFFER = 1 << 13
"""Bytes that a column is parsed by: all rows that they hold are in memory, for every column."""

LOOKAHEAD = 1000
"""How many rows a column may run ahead of the leading one, where their orders differ."""

_KEY = 1 << 10  # the longest name of a column, with the spaces around it
_QUOTE, _OPEN, _CLOSE = 1, 2, 3
_KINDS = np.zeros(256, np.uint8)
_KINDS[[ord('"')]] = _QUOTE
_KINDS[[ord("{"), ord("[")]] = _OPEN
_KINDS[[ord("}"), ord("]")]] = _CLOSE
_BACKSLASH = ord("\\")


def column_places(file: IO[bytes], path: str | PathLike) -> dict[str, tuple[int, int]]:
    """Where the columns of a JSON object stand: first byte and the byte behind the last one.

    Only looks for quotes and brackets, a few hundred megabytes a second. Columns are the values
    of the object that are objects or lists.

    Args:
        file: the object, from its beginning.
        path: its name, for errors.

    Raises:
        RecordError: if the file ends inside the object.

    Example:

    >>> import io
    >>> column_places(io.BytesIO(b'{"a": {"0": "}"}, "b": {}}'), "x.json")
    {'a': (6, 16), 'b': (23, 25)}
    """
    places: dict[str, tuple[int, int]] = {}
    depth, in_string, escaped, position = 0, False, False, 0
    name, begin, tail = "", 0, b""
    while chunk := file.read(CHUNK):
        kinds, escaped = _marks(chunk, escaped)
        marks = np.flatnonzero(kinds != 0)
        quotes = kinds[marks] == _QUOTE
        inside = (np.cumsum(quotes) + in_string) % 2 == 1
        in_string = bool(inside[-1]) if len(inside) else in_string
        outside = marks[~quotes & ~inside]
        steps = np.where(kinds[outside] == _OPEN, 1, -1)
        depths = depth + np.cumsum(steps)
        for which in np.flatnonzero(np.where(steps == 1, depths == 2, depths == 1)):
            place = int(outside[which])
            if steps[which] == 1:
                name, begin = _key(tail + chunk[max(0, place - _KEY) : place]), position + place
            else:
                places[name] = (begin, position + place + 1)
        depth = int(depths[-1]) if len(depths) else depth
        position += len(chunk)
        tail = (tail + chunk)[-_KEY:]
    if depth or in_string or not position:
        where = f"column {name!r}" if depth > 1 else "file"
        raise RecordError("the file ends too early", path=path, record=where)
    return places


def _marks(chunk: bytes, escaped: bool) -> tuple[np.ndarray, bool]:
    """The kind of each byte; a byte behind an escaping backslash is of none."""
    data = np.frombuffer(chunk, np.uint8)
    kinds = _KINDS[data]
    slashes = np.flatnonzero(data == _BACKSLASH)
    if escaped:
        kinds[0] = 0
        slashes = slashes[slashes > 0]
    if not len(slashes):
        return kinds, False
    # In a run of backslashes, the first, third, ... one escapes.
    begins = np.diff(slashes, prepend=-2) != 1
    first = slashes[begins][np.cumsum(begins) - 1]
    escaping = slashes[(slashes - first) % 2 == 0]
    last = int(escaping[-1]) == len(chunk) - 1
    kinds[escaping[:-1] + 1 if last else escaping + 1] = 0
    return kinds, last


def _key(before: bytes) -> str:
    """The name that stands before a column's first bracket."""
    parts = before.rstrip(b" \t\r\n:").rsplit(b'"', 2)
    return parts[1].decode("utf-8", "replace") if len(parts) == 3 else ""


class _Part:
    """A part of a file as a file."""

    def __init__(self, file: IO[bytes], begin: int, end: int) -> None:
        file.seek(begin)
        self._file, self._left = file, end - begin

    def read(self, size: int = -1) -> bytes:
        size = self._left if size < 0 else min(size, self._left)
        data = self._file.read(size)
        self._left -= len(data)
        return data


class _Cursor:
    """Runs along a column and finds rows by their keys."""

    def __init__(self, file: IO[bytes], path: str | PathLike, name: str, place: tuple[int, int]):
        self.name, self._path = name, path
        self._rows = ijson.kvitems(_Part(file, *place), "", use_float=True, buf_size=BUFFER)
        self._passed: dict[str, Any] = {}
        self._last = ""

    def next(self) -> tuple[str, Any] | None:
        try:
            row = next(self._rows, None)
        except ijson.JSONError as error:
            where = f"column {self.name!r}, after row {self._last!r}"
            raise json_error(error, self._path, where) from error
        if row is not None:
            self._last = row[0]
        return row

    def find(self, key: str) -> tuple[bool, Any]:
        """Whether the row is there, and its value."""
        if key in self._passed:
            return True, self._passed.pop(key)
        while len(self._passed) < LOOKAHEAD:
            row = self.next()
            if row is None:
                break
            if row[0] == key:
                return True, row[1]
            self._passed[row[0]] = row[1]
        return False, None

    def rest(self) -> list[str]:
        """Keys of the rows that nobody asked for, at most LOOKAHEAD."""
        while len(self._passed) < LOOKAHEAD and (row := self.next()) is not None:
            self._passed[row[0]] = row[1]
        return list(self._passed)


def json_rows(
    path: str | PathLike,
    leader: str,
    names: tuple[str, ...],
    known: dict[tuple[int, int], dict[str, tuple[int, int]]] | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a JSON object of columns, each a dict from row keys to values.

    A first pass finds where the columns stand; then one cursor a column runs along them at the
    same time. Nothing but the current row is held, as long as the columns list their rows in the
    same order; a column may run up to LOOKAHEAD rows ahead. A ``.gz`` is decompressed once for
    every column.

    Args:
        path: the file.
        leader: the column whose order is taken: the largest one.
        names: the other columns; those that the file lacks are left out.
        known: filled with what the first pass found, which a later call with the same object
            needs not do again as long as the file is unchanged.

    Yields:
        A row's key and its values by column; a column that lacks the row is left out. Rows that
        the leader lacks come last.

    Raises:
        RecordError: if the leader is missing, or the file is cut short or no JSON.
    """
    known = {} if known is None else known
    state = os.stat(path)
    version = (state.st_size, state.st_mtime_ns)
    if version not in known:
        with open_binary(path, skip_mark=False) as file:
            known[version] = column_places(file, path)
    places = known[version]
    if leader not in places:
        raise RecordError("is missing", path=path, record="columns", field=leader)
    with ExitStack() as stack:

        def cursor(name: str) -> _Cursor:
            file = stack.enter_context(open_binary(path, skip_mark=False))
            return _Cursor(file, path, name, places[name])

        lead = cursor(leader)
        others = [cursor(name) for name in names if name in places]
        while (row := lead.next()) is not None:
            record = {leader: row[1]}
            for other in others:
                there, value = other.find(row[0])
                if there:
                    record[other.name] = value
            yield row[0], record
        for key in dict.fromkeys(key for other in others for key in other.rest()):
            yield key, {}
