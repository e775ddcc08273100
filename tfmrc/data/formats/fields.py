"""Access to fields of records, with errors that name the file, the record and the field."""

from collections.abc import Callable, Mapping
from os import PathLike
from os.path import basename
from typing import Any

from tfmrc.data.example import Example, short
from tfmrc.data.stream import Account, RecordError


class RecordLocation:
    """The location of a record in a file. Reads fields and raises errors that name the location.

    Args:
        path: str or path. The file.
        record: str. The line or the id of the record.
        row: int or None. Its number in the file. Default: None.

    Attributes:
        place: str. File and row, the id of a record that has none.
        id: str. The id of the record, as far as it is read.
        columns: dict from field to the name in errors. Default: {}.
        cells: dict from column to value, of a row of a table. Default: {}.

    Example:

    >>> location = RecordLocation("a.json", "id 7")
    >>> location.text({"question": "Why?"}, "question")
    'Why?'
    >>> location.text({"question": 5}, "question")
    Traceback (most recent call last):
    ...
    tfmrc.data.stream.RecordError: a.json: id 7: question: must be a string. Received: question=5
    """

    def __init__(self, path: str | PathLike, record: str, row: int | None = None) -> None:
        self.path = path
        self.record = record
        self.place = f"{basename(path)}:{record if row is None else row}"
        self.id = self.place
        self.columns: Mapping[str, str] = {}
        self.cells: Mapping[str, Any] = {}

    def error(self, message: str, field: str | None = None) -> RecordError:
        """Returns an error with this location."""
        name = None if field is None else self.columns.get(field, field)
        error = RecordError(message, path=self.path, record=self.record, field=name, id=self.id)
        error.cells = self.cells
        return error

    def name(self, value: object) -> str:
        """Returns the id of the record: a text or a number; without one, the file and the row."""
        if not isinstance(value, str | int | float | None):
            raise self.error(f"must be a text or a number. Received: {short(value)}", "id")
        self.id = self.place if value is None or not str(value).strip() else str(value)
        return self.id

    def example(self, labels: Callable[[], Mapping[str, Any]] = dict, **fields: Any) -> Example:
        """Returns the example with these fields and labels; its errors name this location."""
        try:
            return Example(**{**labels(), **fields})
        except (AttributeError, TypeError, ValueError) as error:
            raise error if isinstance(error, RecordError) else self.error(str(error)) from error

    def labelled(
        self, account: Account, labels: Callable[[], Mapping[str, Any]], **fields: Any
    ) -> Example:
        """Returns the example with these fields and labels; without broken ones if not needed."""
        try:
            return self.example(labels, **fields)
        except RecordError:
            if account.labels != "none":
                raise
            return self.example(**fields)

    def get(self, record: object, field: str) -> Any:
        """Returns a required field of a record, which must be an object."""
        if not isinstance(record, dict):
            raise self.error(f"must be an object with {field!r}. Received: {short(record)}")
        if field not in record:
            raise self.error("is missing", field)
        return record[field]

    def text(self, record: object, field: str, *, blank: bool = False) -> str:
        """Returns a string field, which must not be blank unless `blank` is True."""
        value = self.get(record, field)
        if not isinstance(value, str):
            raise self.error(f"must be a string. Received: {field}={short(value)}", field)
        if not blank and not value.strip():
            raise self.error(f"must not be blank. Received: {field}={value!r}", field)
        return value

    def list(self, record: object, field: str) -> list[Any]:
        """Returns a list field."""
        value = self.get(record, field)
        if not isinstance(value, list):
            raise self.error(f"must be a list. Received: {field}={short(value)}", field)
        return value
