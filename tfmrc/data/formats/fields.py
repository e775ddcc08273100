"""Streaming JSON, and fields of its records, with errors that say where the record stands."""

from collections.abc import Iterator
from os import PathLike
from typing import IO, Any

import ijson

from tfmrc.data.stream import RecordError


class Place:
    """Where a record stands in a file: gives its fields, or an error that names all three.

    Args:
        path: the file.
        record: the line or the id of the record.

    Example:

    >>> place = Place("a.json", "id 7")
    >>> place.text({"question": "Why?"}, "question")
    'Why?'
    >>> place.text({"question": 5}, "question")
    Traceback (most recent call last):
    ...
    tfmrc.data.stream.RecordError: a.json: id 7: question: must be a string. Received: question=5
    """

    def __init__(self, path: str | PathLike, record: str) -> None:
        self.path = path
        self.record = record

    def error(self, message: str, field: str | None = None) -> RecordError:
        """The error, to be raised or reported."""
        return RecordError(message, path=self.path, record=self.record, field=field)

    def get(self, record: Any, field: str) -> Any:
        """The field of a record, which must be an object that has it."""
        if not isinstance(record, dict):
            raise self.error(f"must be an object with {field!r}. Received: {short(record)}")
        if field not in record:
            raise self.error("is missing", field)
        return record[field]

    def text(self, record: Any, field: str, *, blank: bool = False) -> str:
        """A field that holds text, with at least one character that is not a space."""
        value = self.get(record, field)
        if not isinstance(value, str):
            raise self.error(f"must be a string. Received: {field}={short(value)}", field)
        if not blank and not value.strip():
            raise self.error(f"holds no text. Received: {field}={value!r}", field)
        return value

    def list(self, record: Any, field: str) -> list[Any]:
        """A field that holds a list."""
        value = self.get(record, field)
        if not isinstance(value, list):
            raise self.error(f"must be a list. Received: {field}={short(value)}", field)
        return value

    def flag(self, record: Any, field: str, default: bool | None = None) -> bool | None:
        """A field that holds a boolean, or the default if it is not there."""
        value = record.get(field, default)
        if value is not None and not isinstance(value, bool):
            raise self.error(f"must be true or false. Received: {field}={short(value)}", field)
        return value


def short(value: Any) -> str:
    """The value as an error shows it: cut after 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"


def json_items(file: IO[bytes], path: str | PathLike, prefix: str) -> Iterator[Any]:
    """The items under a prefix of a JSON file, one at a time.

    Raises:
        RecordError: if the file is cut short or no JSON; says behind which item.
    """
    number = 0
    try:
        for item in ijson.items(file, prefix, use_float=True):
            yield item
            number += 1
    except ijson.JSONError as error:
        raise json_error(error, path, f"after {number} of {prefix}") from error


def json_error(error: ijson.JSONError, path: str | PathLike, record: str) -> RecordError:
    """The parser's complaint with the file's name, in one line."""
    said = error.args[0] if error.args else ""
    if isinstance(said, bytes):
        said = said.decode("utf-8", "replace")
    lines = [line.strip() for line in str(said).splitlines()]
    reason = lines[0].rstrip(".") if lines else "unknown"
    if "premature EOF" in reason or not lines:
        return RecordError(f"the file ends too early ({reason})", path=path, record=record)
    near = f", near {short(lines[1])}" if len(lines) > 1 and lines[1] else ""
    return RecordError(f"the file is no JSON ({reason}{near})", path=path, record=record)
