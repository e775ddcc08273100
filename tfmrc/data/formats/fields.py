"""Access to fields of records, with errors that name the file, the record and the field."""

from os import PathLike
from typing import Any

from tfmrc.data.example import Example, short
from tfmrc.data.stream import RecordError

__all__ = ["RecordLocation", "short"]


class RecordLocation:
    """The location of a record in a file. Reads fields and raises errors that name the location.

    Args:
        path: str or path. The file.
        record: str. The line or the id of the record.

    Example:

    >>> location = RecordLocation("a.json", "id 7")
    >>> location.text({"question": "Why?"}, "question")
    'Why?'
    >>> location.text({"question": 5}, "question")
    Traceback (most recent call last):
    ...
    tfmrc.data.stream.RecordError: a.json: id 7: question: must be a string. Received: question=5
    """

    def __init__(self, path: str | PathLike, record: str) -> None:
        self.path = path
        self.record = record

    def error(self, message: str, field: str | None = None) -> RecordError:
        """Returns an error with this location."""
        return RecordError(message, path=self.path, record=self.record, field=field)

    def example(self, **fields: Any) -> Example:
        """Returns the example with these fields; its errors name this location."""
        try:
            return Example(**fields)
        except ValueError as error:
            raise self.error(str(error)) from error

    def get(self, record: Any, field: str) -> Any:
        """Returns a required field of a record, which must be an object."""
        if not isinstance(record, dict):
            raise self.error(f"must be an object with {field!r}. Received: {short(record)}")
        if field not in record:
            raise self.error("is missing", field)
        return record[field]

    def text(self, record: Any, field: str, *, blank: bool = False) -> str:
        """Returns a string field, which must not be blank unless `blank` is True."""
        value = self.get(record, field)
        if not isinstance(value, str):
            raise self.error(f"must be a string. Received: {field}={short(value)}", field)
        if not blank and not value.strip():
            raise self.error(f"must not be blank. Received: {field}={value!r}", field)
        return value

    def list(self, record: Any, field: str) -> list[Any]:
        """Returns a list field."""
        value = self.get(record, field)
        if not isinstance(value, list):
            raise self.error(f"must be a list. Received: {field}={short(value)}", field)
        return value

    def flag(self, record: Any, field: str) -> bool | None:
        """Returns a boolean field, or None if it is missing."""
        value = record.get(field)
        if value is not None and not isinstance(value, bool):
            raise self.error(f"must be true or false. Received: {field}={short(value)}", field)
        return value
