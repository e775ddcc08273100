"""A JSON object of large columns, read row by row without holding it."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from os import PathLike
from typing import IO, Any

from tfmrc.data.formats.fields import Place, short
from tfmrc.data.formats.json_scan import CLOSE, COMMA, OPEN, column_places, marks
from tfmrc.data.stream import RecordError, open_binary

BUFFER = 1 << 16
"""Bytes of a column that are held."""

LOOKAHEAD = 1000
"""How many rows a column may run ahead of the leading one, where their orders differ."""

Places = dict[str, tuple[int, int]]

_KEY = re.compile(rb'\s*"((?:[^"\\]|\\.)*)"\s*:')
_LACKING = object()


def json_rows(
    path: str | PathLike,
    leader: str,
    names: tuple[str, ...],
    known: dict[tuple[int, int], Places] | None = None,
) -> Iterator[tuple[dict[str, Any], Place, RecordError | None]]:
    """The rows of a JSON object of columns, each a dict from row keys to values.

    A first pass finds where the columns stand; then one cursor a column runs along them at the
    same time. Nothing but a buffer and the current row is held, as long as the columns list their
    rows in the same order; a column may run up to ``LOOKAHEAD`` rows ahead. A ``.gz`` is
    decompressed once for every column.

    Args:
        path: the file.
        leader: the column whose order is taken: the largest one.
        names: the other columns; those that the file lacks are left out.
        known: filled with what the first pass found, which a later call with the same object
            needs not do again as long as the file is unchanged.

    Yields:
        A row's values by column, where it stands, and what is wrong with it, if something is: a
        column lacks it or holds no JSON there. Rows that the leader lacks come last.

    Raises:
        RecordError: if the leader is missing, or the file is cut short.
    """
    known = {} if known is None else known
    state = os.stat(path)
    version = (state.st_size, state.st_mtime_ns)
    if version not in known:
        with open_binary(path, skip_mark=False) as file:
            known[version] = column_places(file.read, path)
    places = known[version]
    if leader not in places:
        raise RecordError("is missing", path=path, record="columns", field=leader)
    with ExitStack() as stack:

        def rows(name: str) -> Iterator[tuple[str | None, Any]]:
            file = stack.enter_context(open_binary(path, skip_mark=False))
            return _rows(file, path, name, places[name])

        others = [_Cursor(rows(name), name) for name in names if name in places]
        for key, value in rows(leader):
            record = {leader: value}
            if key is not None:
                record |= {other.name: other.find(key) for other in others}
            place = Place(path, f"row {key!r}")
            wrong = next((v for v in record.values() if isinstance(v, RecordError)), None)
            lacking = next((name for name, v in record.items() if v is _LACKING), None)
            if lacking is not None and wrong is None:
                wrong = place.error("the column has no such row", lacking)
            yield record, place, wrong
        for key in dict.fromkeys(key for other in others for key in other.rest()):
            place = Place(path, f"row {key!r}")
            yield {}, place, place.error("the column has no such row", leader)


def _rows(
    file: IO[bytes], path: str | PathLike, name: str, place: tuple[int, int]
) -> Iterator[tuple[str | None, Any]]:
    """The rows of a column, cut at the commas between them and parsed one by one.

    In place of a value that is no JSON comes the error; its key is ``None`` if it has none.
    """
    latest: str | None = None
    for text in _texts(file, *place):
        try:
            [(latest, value)] = json.loads(b"{" + text + b"}").items()
            yield latest, value
        except ValueError as error:
            found = _KEY.match(text)
            key = None if found is None else found[1].decode("utf-8", "replace")
            where = f"row {key!r}" if key is not None else f"the row after {latest!r}"
            said = f"no JSON ({error}). Received: {short(text)}"
            yield key, RecordError(said, path=path, record=where, field=name)
            latest = key or latest


def _texts(file: IO[bytes], begin: int, end: int) -> Iterator[bytes]:
    """The texts of the rows: what stands between the column's brackets and commas."""
    file.seek(begin)
    left = end - begin

    def read(size: int) -> bytes:
        nonlocal left
        data = file.read(min(size, left))
        left -= len(data)
        return data

    parts: list[bytes] = []
    for data, places, kinds, depths, _ in marks(read, BUFFER):
        edges = (kinds == COMMA) & (depths == 1)
        edges |= (kinds == OPEN) & (depths == 1) | (kinds == CLOSE) & (depths == 0)
        start = 0
        for place, kind in zip(places[edges].tolist(), kinds[edges].tolist(), strict=True):
            text = b"".join([*parts, data[start:place]])
            parts, start = [], place + 1
            if kind == COMMA or text.strip():
                yield text
        parts.append(data[start:])


class _Cursor:
    """Runs along a column and finds rows by their keys."""

    def __init__(self, rows: Iterator[tuple[str | None, Any]], name: str) -> None:
        self.name = name
        self._rows = rows
        self._passed: dict[str, Any] = {}

    def find(self, key: str) -> Any:
        """The row's value, or the error that stands in its place."""
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

    def _pass(self, key: str | None, value: Any) -> None:
        if key is not None:
            self._passed[key] = value
