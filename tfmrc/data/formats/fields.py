"""Fields of records, with errors that name the file, the record and the field."""

from os import PathLike
from typing import Any

from tfmrc.data.example import short
from tfmrc.data.stream import RecordError

__all__ = ["Place", "short"]


class Place:
    """A record's location in a file: returns its fields, or an error that names all three.

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
