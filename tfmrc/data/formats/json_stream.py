"""Values of a JSON file, one at a time, from the events of ijson's parser."""

import json
import re
from collections import deque
from collections.abc import Iterator
from os import PathLike
from typing import IO, Any

import ijson

from tfmrc.data.formats.fields import Place, short
from tfmrc.data.stream import RecordError, Report

MAX_DEPTH = 100
"""The deepest nesting of lists and objects inside a record."""

_OPEN = frozenset(("start_map", "start_array"))
_CLOSE = frozenset(("end_map", "end_array"))
_BUFFER = 1 << 14  # bytes whose events the parser holds at once
_BACKSLASH = ord("\\")
_LONE, _LONE_ESCAPE = "\ufdd0", rb"\ufdd0"  # a code point that stands for no character

Events = Iterator[tuple[str, Any]]


class TooDeep(ValueError):
    """A value is nested deeper than `MAX_DEPTH`; its events have been consumed."""

    def __init__(self) -> None:
        super().__init__(f"is nested deeper than {MAX_DEPTH} levels")


class JSONFile:
    r"""A JSON file whose lone surrogates survive the parser, which would read them as "?".

    Args:
        file: The file, at its beginning.

    Attributes:
        lone_surrogates: bool. Whether the part that has been read holds a lone surrogate. Its
            values then go through `restored`.

    Example:

    >>> import io
    >>> file = JSONFile(io.BytesIO(rb'["\ud83d\ude00", "\ud83d!", "\\ud83d"]'))
    >>> file.restored(json_value(json_events(file))) == ["\U0001f600", "\ud800!", r"\ud83d"]
    True
    """

    # Any escape; the group is a surrogate without its other half.
    _ESCAPE = re.compile(
        rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
        rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
        re.DOTALL,
    )
    # The beginning of an escape, or of a pair of them, at the end of a piece.
    _BEGUN = re.compile(
        rb"\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?"
    )
    _LONGEST = len(rb"\ud800\udc0")

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._held = file, b""
        self.lone_surrogates = False

    def read(self, size: int = -1) -> bytes:
        """Reads on; lone surrogates are replaced by a code point that no text has."""
        if not size:
            return b""
        while True:
            new = self._file.read(size)
            if not new:  # what is held would be half an escape at the end of a file cut short
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
        """The index of an escape that goes on in the next piece; the end if there is none."""
        for index in range(max(0, len(data) - self._LONGEST), len(data)):
            if data[index] == _BACKSLASH and self._BEGUN.fullmatch(data, index):
                before = data[:index]
                if (index - len(before.rstrip(b"\\"))) % 2 == 0:  # no escaped backslash
                    return index
        return len(data)

    def restored(self, value: Any) -> Any:
        """The value with its lone surrogates, as `json.loads` gives them."""
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
    """The parser's events; numbers are int or float."""
    return iter(ijson.basic_parse(file, use_float=True, buf_size=_BUFFER))


def json_value(events: Events, first: tuple[str, Any] | None = None) -> Any:
    """The next value, built from its events.

    Memory grows with the value, and no recursion is involved.

    Args:
        events: The parser's events.
        first: The value's first event, if it has been taken already.

    Raises:
        TooDeep: The value is nested too deep.
        ijson.JSONError: The file is no JSON.

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
    """Passes over the next value without building it."""
    if next(events)[0] in _OPEN:
        _consume(events, 1)


def _consume(events: Events, depth: int) -> None:
    """Passes over the events up to the end of the outermost of `depth` open containers."""
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
    """The items of a JSON file's list, one at a time.

    Args:
        file: The file, at its beginning.
        path: Its name, for errors.
        name: The key of the list in the outermost object; None: the file is the list.
        record: What an item is, for errors, such as "article".
        report: Takes the error of an item that is nested too deep.

    Yields:
        The item's number, from 1, and the item.

    Raises:
        RecordError: The file is cut short, no JSON, or has no such list.
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
                    report.error(Place(path, f"{record} {number}").error(str(error)))
                    continue
                number += 1
                yield number, item
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise json_error(error, path, f"after {record} {number}") from error


def _list_starts(events: Events, path: str | PathLike, name: str | None) -> Iterator[None]:
    """Stops behind the beginning of the wanted list; reads to the end of the file after it."""
    place = Place(path, "file")
    event, value = next(events, ("", None))
    if name is None:
        if event != "start_array":
            raise place.error("must be a list")
        yield
    else:
        if event != "start_map":
            raise place.error(f"must be an object with {name!r}")
        seen = False
        for event, key in events:
            if event == "end_map":
                break
            if key != name:
                skip_value(events)
                continue
            if seen:
                raise place.error("is there twice", name)
            seen = True
            event, value = next(events)
            if event != "start_array":
                raise place.error(f"must be a list. Received: {short(value)}", name)
            yield
        if not seen:
            raise place.error("is missing", name)
    deque(events, maxlen=0)  # read to the end: what follows the value is an error of the parser


def json_line(line: bytes) -> Any:
    """The value of a line of JSON.

    Raises:
        ValueError: The line is no UTF-8, no JSON or nested too deep.
    """
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"the text is no UTF-8 ({error.reason})") from None
    except RecursionError:
        raise ValueError("is nested too deep") from None
    except ValueError as error:
        raise ValueError(f"no JSON ({error}). Received: {short(line)}") from None


def json_lines(
    file: IO[bytes], path: str | PathLike, report: Report
) -> Iterator[tuple[Place, Any]]:
    """The values of a file of JSON lines, one at a time; blank lines are passed over.

    Raises:
        RecordError: The file holds no line.
    """
    place = None
    for number, line in enumerate(file, 1):
        if line.isspace():
            continue
        place = Place(path, f"line {number}")
        try:
            value = json_line(line)
        except ValueError as error:
            report.error(place.error(str(error)))
            continue
        yield place, value
    if place is None:
        raise RecordError("holds no record", path=path, record="file")


def json_error(error: Exception, path: str | PathLike, record: str) -> RecordError:
    """The parser's complaint with the file's name, in one line."""
    if isinstance(error, UnicodeDecodeError):
        return RecordError(f"the text is no UTF-8 ({error.reason})", path=path, record=record)
    said = error.args[0] if error.args else ""
    if isinstance(said, bytes):
        said = said.decode("utf-8", "replace")
    lines = [line.strip() for line in str(said).splitlines()]
    reason = lines[0].rstrip(".") if lines else "unknown"
    if "premature EOF" in reason or not lines:
        return RecordError(f"the file ends too early ({reason})", path=path, record=record)
    near = f", near {short(lines[1])}" if len(lines) > 1 and lines[1] else ""
    if "trailing garbage" in reason:
        return RecordError(f"the file goes on after its end{near}", path=path, record=record)
    return RecordError(f"the file is no JSON ({reason}{near})", path=path, record=record)
