"""Values of a JSON file, one at a time, from the events of ijson's parser."""

import json
import re
from collections import deque
from collections.abc import Iterator
from os import PathLike
from typing import IO, Any

import ijson

from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.stream import RecordError, Report

MAX_DEPTH = 100
"""The deepest nesting of lists and objects inside a record."""

_OPEN = frozenset(("start_map", "start_array"))
_CLOSE = frozenset(("end_map", "end_array"))
_BUFFER = 1 << 14  # bytes whose events the parser holds at once
_BACKSLASH = ord("\\")
_LONE, _LONE_ESCAPE = "\ufdd0", rb"\ufdd0"  # a Unicode noncharacter

Events = Iterator[tuple[str, Any]]


class TooDeep(ValueError):
    """A value is nested deeper than `MAX_DEPTH`; its events have been consumed."""

    def __init__(self) -> None:
        super().__init__(f"is nested deeper than {MAX_DEPTH} levels")


class JSONFile:
    r"""A JSON file whose lone surrogates, which the parser would read as "?", become U+D800.

    Which surrogate it was is lost: readers refuse a text with any, as it is no valid Unicode.

    Args:
        file: binary file, at its beginning.

    Attributes:
        lone_surrogates: bool. Whether the part read so far contains a lone surrogate. `restored`
            then gives its values U+D800 in their place.

    Example:

    >>> import io
    >>> file = JSONFile(io.BytesIO(rb'["\ud83d\ude00", "\ud83d!", "\\ud83d"]'))
    >>> file.restored(json_value(json_events(file))) == ["\U0001f600", "\ud800!", r"\ud83d"]
    True
    """

    # Any escape; the group is a lone surrogate.
    _ESCAPE = re.compile(
        rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
        rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
        re.DOTALL,
    )
    # The beginning of an escape, or of a pair of escapes, at the end of a chunk.
    _BEGUN = re.compile(
        rb"\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?"
    )
    _LONGEST = len(rb"\ud800\udc0")

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._held = file, b""
        self.lone_surrogates = False

    def read(self, size: int = -1) -> bytes:
        """Reads bytes; each lone surrogate is replaced by a noncharacter."""
        if not size:
            return b""
        while True:
            new = self._file.read(size)
            if not new:  # held bytes would be part of an escape at the end of a truncated file
                return b""
            data = self._held + new
            cut = self._begun(data)
            data, self._held = data[:cut], data[cut:]
            if data:
                break
        if b"\\ud" in data or b"\\uD" in data:
            data = self._ESCAPE.sub(self._replaced, data)
        return data

    def _replaced(self, escape: re.Match[bytes]) -> bytes:
        if escape[1] is None:
            return escape[0]
        self.lone_surrogates = True
        return _LONE_ESCAPE

    def _begun(self, data: bytes) -> int:
        """Returns the index of an escape that continues in the next chunk, or the length."""
        for index in range(max(0, len(data) - self._LONGEST), len(data)):
            if data[index] == _BACKSLASH and self._BEGUN.fullmatch(data, index):
                before = data[:index]
                if (index - len(before.rstrip(b"\\"))) % 2 == 0:  # not an escaped backslash
                    return index
        return len(data)

    def restored(self, value: Any) -> Any:
        """Returns a value with U+D800 for each lone surrogate."""
        if not self.lone_surrogates:
            return value
        if isinstance(value, str):
            return value.replace(_LONE, "\ud800")
        if isinstance(value, list):
            return [self.restored(item) for item in value]
        if isinstance(value, dict):
            return {self.restored(key): self.restored(item) for key, item in value.items()}
        return value


def json_events(file: JSONFile) -> Events:
    """Returns the parser's events; numbers are int or float."""
    return iter(ijson.basic_parse(file, use_float=True, buf_size=_BUFFER))


def json_value(events: Events, first: tuple[str, Any] | None = None) -> Any:
    """Builds the next value from its events, without recursion.

    Args:
        events: iterator. The parser's events.
        first: tuple. The value's first event, if already consumed. Default: None.

    Raises:
        TooDeep: The value is nested too deeply.
        ijson.JSONError: The file is not JSON.

    Example:

    >>> import io
    >>> json_value(json_events(JSONFile(io.BytesIO(b'{"a": [1, {"b": null}]}'))))
    {'a': [1, {'b': None}]}
    """
    event, value = first or next(events)
    if event not in _OPEN:
        return value
    root: Any = {} if event == "start_map" else []
    top, stack, name = root, [root], ""
    for event, value in events:
        if event == "map_key":
            name = value
            continue
        if event in _CLOSE:
            stack.pop()
            if not stack:
                return root
            top = stack[-1]
            continue
        opens = event in _OPEN
        if opens:
            if len(stack) == MAX_DEPTH:
                _consume(events, len(stack) + 1)
                raise TooDeep
            value = {} if event == "start_map" else []
        if type(top) is list:
            top.append(value)
        else:
            top[name] = value
        if opens:
            stack.append(value)
            top = value
    raise ijson.IncompleteJSONError("premature EOF")


def skip_value(events: Events) -> None:
    """Skips the next value without building it."""
    if next(events)[0] in _OPEN:
        _consume(events, 1)


def _consume(events: Events, depth: int) -> None:
    """Skips the events up to the end of the outermost of `depth` open containers."""
    for event, _ in events:
        if event in _OPEN:
            depth += 1
        elif event in _CLOSE:
            depth -= 1
            if not depth:
                return


def json_items(
    file: IO[bytes], path: str | PathLike, name: str | None, record: str, report: Report
) -> Iterator[tuple[int, Any]]:
    """Yields the items of a list in a JSON file, one at a time.

    Args:
        file: binary file, at its beginning.
        path: str or path. Name of the file, for errors.
        name: str or None. Key of the list in the outermost object; None if the file is the list.
        record: str. Name of an item for errors, such as "article".
        report: `Report`. Receives the errors of items that are nested too deeply.

    Yields:
        The item's number, from 1, and the item.

    Raises:
        RecordError: The file is truncated, not JSON, or lacks the list.
    """
    number = 0
    try:
        source = JSONFile(file)
        events = json_events(source)
        for _ in _list_starts(events, path, name):
            for event in events:
                if event[0] == "end_array":
                    break
                try:
                    item = source.restored(json_value(events, event))
                except TooDeep as error:
                    number += 1
                    report.error(RecordLocation(path, f"{record} {number}").error(str(error)))
                    continue
                number += 1
                yield number, item
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise json_error(error, path, f"after {record} {number}") from error


def _list_starts(events: Events, path: str | PathLike, name: str | None) -> Iterator[None]:
    """Yields after the start of the wanted list; when resumed, reads to the end of the file."""
    location = RecordLocation(path, "file")
    event, value = next(events, ("", None))
    if name is None:
        if event != "start_array":
            raise location.error("must be a list")
        yield
    else:
        if event != "start_map":
            raise location.error(f"must be an object with {name!r}")
        seen = False
        for event, key in events:
            if event == "end_map":
                break
            if key != name:
                skip_value(events)
                continue
            if seen:
                raise location.error("occurs twice", name)
            seen = True
            event, value = next(events)
            if event != "start_array":
                raise location.error(f"must be a list. Received: {short(value)}", name)
            yield
        if not seen:
            raise location.error("is missing", name)
    deque(events, maxlen=0)  # reads to the end: data after the value is an error of the parser


def json_line(line: bytes) -> Any:
    """Returns the value of a line of JSON.

    Raises:
        ValueError: The line is not UTF-8, not JSON or nested too deeply.
    """
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"the text is not UTF-8 ({error.reason})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON ({error}). Received: {short(line)}") from None


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
            value = json_line(line)
        except ValueError as error:
            report.error(location.error(str(error)))
            continue
        yield location, value
    if location is None:
        raise RecordError("contains no record", path=path, record="file")


def json_error(error: Exception, path: str | PathLike, record: str) -> RecordError:
    """Converts an error of the parser to a `RecordError` of one line."""
    if isinstance(error, UnicodeDecodeError):
        return RecordError(f"the text is not UTF-8 ({error.reason})", path=path, record=record)
    message = error.args[0] if error.args else ""
    if isinstance(message, bytes):
        message = message.decode("utf-8", "replace")
    lines = [line.strip() for line in str(message).splitlines()]
    reason = lines[0].rstrip(".") if lines else "unknown"
    if "premature EOF" in reason or not lines:
        return RecordError(f"the file ends too early ({reason})", path=path, record=record)
    near = f", near {short(lines[1])}" if len(lines) > 1 and lines[1] else ""
    if "trailing garbage" in reason:
        return RecordError(f"data follows the JSON value{near}", path=path, record=record)
    return RecordError(f"the file is not JSON ({reason}{near})", path=path, record=record)
