"""Brackets and commas of a JSON text, found at the level of bytes without parsing it."""

from collections.abc import Callable, Iterator
from os import PathLike
from typing import NamedTuple

import numpy as np

from tfmrc.data.stream import RecordError

CHUNK = 1 << 21

OPEN, CLOSE, COMMA = 1, 2, 3
_QUOTE = 4
_KINDS = np.zeros(256, np.uint8)
_KINDS[[ord("{"), ord("[")]] = OPEN
_KINDS[[ord("}"), ord("]")]] = CLOSE
_KINDS[ord(",")] = COMMA
_KINDS[ord('"')] = _QUOTE
_BACKSLASH = ord("\\")
_NAME = 1 << 10  # the longest name of a column, with the spaces around it


class Marks(NamedTuple):
    """The marks of a piece of JSON that stand outside of strings.

    Attributes:
        data: the piece.
        places: where the marks stand in it.
        kinds: ``OPEN``, ``CLOSE`` or ``COMMA``.
        depths: how many brackets are open behind the mark.
        in_string: whether the piece ends inside a string.
    """

    data: bytes
    places: np.ndarray
    kinds: np.ndarray
    depths: np.ndarray
    in_string: bool


def marks(read: Callable[[int], bytes], size: int) -> Iterator[Marks]:
    """The marks of a JSON text, piece by piece.

    Args:
        read: gives at most so many next bytes; none at the end.
        size: bytes of a piece.

    Example:

    >>> import io
    >>> [found] = marks(io.BytesIO(b'{"a": [1, "}"]}').read, 100)
    >>> found.places.tolist(), found.kinds.tolist(), found.depths.tolist()
    ([0, 6, 8, 13, 14], [1, 1, 3, 2, 2], [1, 2, 2, 1, 0])
    """
    depth, in_string, escaped = 0, False, False
    while data := read(size):
        kinds, escaped = _kinds(data, escaped)
        places = np.flatnonzero(kinds != 0)
        kinds = kinds[places]
        quotes = kinds == _QUOTE
        inside = (np.cumsum(quotes) + in_string) % 2 == 1
        in_string = bool(inside[-1]) if len(inside) else in_string
        outside = ~quotes & ~inside
        places, kinds = places[outside], kinds[outside]
        depths = depth + np.cumsum((kinds == OPEN).astype(np.int64) - (kinds == CLOSE))
        depth = int(depths[-1]) if len(depths) else depth
        yield Marks(data, places, kinds, depths, in_string)


def column_places(read: Callable[[int], bytes], path: str | PathLike) -> dict[str, tuple[int, int]]:
    """Where the columns of a JSON object stand: first byte and the byte behind the last one.

    Columns are the values of the object that are objects or lists.

    Args:
        read: gives the next bytes of the object, from its beginning.
        path: its name, for errors.

    Raises:
        RecordError: if the file ends inside the object.

    Example:

    >>> import io
    >>> column_places(io.BytesIO(b'{"a": {"0": "}"}, "b": {}}').read, "x.json")
    {'a': (6, 16), 'b': (23, 25)}
    """
    places: dict[str, tuple[int, int]] = {}
    name, begin, position, tail = "", 0, 0, b""
    depth, in_string = 0, False
    for piece in marks(read, CHUNK):
        data, found, kinds, depths, in_string = piece
        edges = (kinds == OPEN) & (depths == 2) | (kinds == CLOSE) & (depths == 1)
        for place, kind in zip(found[edges].tolist(), kinds[edges].tolist(), strict=True):
            if kind == OPEN:
                name, begin = _name(tail + data[max(0, place - _NAME) : place]), position + place
            else:
                places[name] = (begin, position + place + 1)
        depth = int(depths[-1]) if len(depths) else depth
        position += len(data)
        tail = (tail + data)[-_NAME:]
    if depth or in_string or not position:
        where = f"column {name!r}" if depth > 1 else "file"
        raise RecordError("the file ends too early", path=path, record=where)
    return places


def _kinds(data: bytes, escaped: bool) -> tuple[np.ndarray, bool]:
    """The kind of each byte, 0 behind a backslash that escapes; whether the last one does."""
    values = np.frombuffer(data, np.uint8)
    kinds = _KINDS[values]
    slashes = np.flatnonzero(values == _BACKSLASH)
    if escaped:
        kinds[0] = 0
        slashes = slashes[slashes > 0]
    if not len(slashes):
        return kinds, False
    # In a run of backslashes, the first, third, ... one escapes.
    begins = np.diff(slashes, prepend=-2) != 1
    first = slashes[begins][np.cumsum(begins) - 1]
    escaping = slashes[(slashes - first) % 2 == 0]
    last = int(escaping[-1]) == len(data) - 1
    kinds[escaping[:-1] + 1 if last else escaping + 1] = 0
    return kinds, last


def _name(before: bytes) -> str:
    """The name that stands before a column's first bracket."""
    parts = before.rstrip(b" \t\r\n:").rsplit(b'"', 2)
    return parts[1].decode("utf-8", "replace") if len(parts) == 3 else ""
