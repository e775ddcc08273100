"""Values of JSON files, one at a time."""

import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from os import PathLike
from typing import IO, Any

import ijson

from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.stream import Account, RecordError, open_binary

_START, _DEPTH = 1 << 16, 5


def json_shape(path: str | PathLike) -> dict[str, str]:
    """Returns the kinds of the values in the first 64 KiB of a JSON file, by their paths.

    Example:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.json")
    ...     _ = path.write_text('{"data": [{"question": "Why?"}]}')
    ...     list(json_shape(path))
    ['', 'data', 'data.item', 'data.item.question']
    """
    with open_binary(path) as file:
        start = file.read(_START).lstrip()
    shape: dict[str, str] = {}
    keys: list[str] = []
    try:
        for event, value in ijson.basic_parse(io.BytesIO(start), multiple_values=True):
            if event == "map_key":
                keys[-1] = value
            elif event.startswith("end_"):
                keys.pop()
            elif len(keys) < _DEPTH:
                shape.setdefault(".".join(keys), event)
            if event.startswith("start_"):
                keys.append("item")
            elif not keys:
                break
    except (ijson.JSONError, UnicodeDecodeError):
        pass  # `start` ends within the record, or the reader names the damage
    return shape


def json_records(
    path: str | PathLike,
    account: Account,
    record: str = "row",
    question: Iterable[str] = ("query",),
) -> Iterator[tuple[RecordLocation, Any]]:
    """Yields the records of a file: lines, a list, a list below `data`, or columns of rows.

    Args:
        path: str or path. The file, which may be gzipped.
        account: `Account`. Receives the errors of broken lines.
        record: str. Name of a record for errors. Default: "row".
        question: iterable of str. Names of the column that shows columns.

    Raises:
        RecordError: The file is truncated, not JSON or empty, or columns differ.
    """
    shape = json_shape(path)
    name = "data" if shape.get("data") == "start_array" else None
    if name is None and shape.get("") == "start_map":
        lists = any(shape.get(column, "").startswith("start_") for column in question)
        if lists or any(re.fullmatch(r"\w+\.\d+", column) for column in shape):
            yield from _columns(path)
            return
    with open_binary(path) as file:
        if name is None and shape.get("") != "start_array":
            yield from json_lines(file, path, account)
            return
        for number, item in json_items(file, path, name, record):
            yield RecordLocation(path, f"{record} {number}", number), item


def _columns(path: str | PathLike) -> Iterator[tuple[RecordLocation, Any]]:
    """Yields the rows of an object of columns, which are read side by side."""
    with _parsed(path, "columns") as events:
        names: list[str] = []
        depth, key = 0, ""
        for event, value in events:
            if event == "map_key" and depth == 1:
                key = value
            if event in ("start_map", "start_array") and depth == 1:
                names.append(key)
            depth += event.startswith("start_") - event.startswith("end_")

    def column(name: str) -> Iterator[tuple[Any, Any]]:
        with _parsed(path, f"column {name}") as events:
            yield from _items(events, name)

    cells = zip_longest(*map(column, names), fillvalue=(None, None))
    for number, row in enumerate(cells, 1):
        location = RecordLocation(path, f"row {number}", number)
        if len({key for key, _ in row}) > 1:
            raise location.error(f"the columns differ in their rows. Received: {short(row)}")
        yield location, dict(zip(names, (value for _, value in row), strict=True))


@contextmanager
def _parsed(path: str | PathLike, record: str) -> Iterator[Iterable[tuple[str, Any]]]:
    """Yields the events of a JSON file."""
    with open_binary(path) as file:
        try:
            yield ijson.basic_parse(file, use_float=True)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise _json_error(error, path, record) from error


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
    events = ijson.basic_parse(file, use_float=True)
    try:
        for number, (_, item) in enumerate(_items(events, name), 1):
            yield number, item
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise _json_error(error, path, f"after {record} {number}") from error
    if not number:
        raise RecordError(f"contains no {record}", path=path, record="file", field=name)


def _items(events: Iterable[tuple[str, Any]], name: str | None) -> Iterator[tuple[str | int, Any]]:
    """Builds the items of a list or, with their keys, of a named object.

    `ijson.items` would hold a path per level of nesting.
    """
    outside = 0 if name is None else 1  # depth of the list itself
    depth, key, row, number, inside, item = 0, None, None, 0, False, ijson.ObjectBuilder()
    for event, value in events:
        depth -= event in ("end_map", "end_array")
        if inside and depth == outside:
            inside = False
        elif inside and depth == outside + 1 and event == "map_key":
            row = value
        elif inside:
            item.event(event, value)
            if depth == outside + 1 and event not in ("start_map", "start_array"):
                number += 1
                yield number if row is None else row, item.value
                item = ijson.ObjectBuilder()
        elif event == "map_key" and depth == 1:
            key = value
        elif depth == outside and event in ("start_array", "start_map"):
            inside = key == name and (event == "start_array" or name is not None)
        depth += event in ("start_map", "start_array")


def json_lines(
    file: IO[bytes], path: str | PathLike, account: Account
) -> Iterator[tuple[RecordLocation, Any]]:
    """Yields the values of a file of JSON lines; blank lines are skipped.

    Raises:
        RecordError: The file has no line.
    """
    location = None
    for number, line in enumerate(file, 1):
        if line.isspace():
            continue
        location = RecordLocation(path, f"line {number}", number)
        if number == 1 and line.strip() == b"{":  # one object, indented
            line += file.read()
        try:
            value = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            account.error(location.error(f"not JSON ({error}). Received: {short(line)}"))
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
