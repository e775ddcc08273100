"""CSV, TSV and JSON lines: each row is a page of its own."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tfmrc.documents.document import Document, DocumentBuilder
from tfmrc.documents.formats.encoding import decode

_TEXT = ("text", "passage", "passages", "context", "paragraph", "content", "contents", "body")
_HEADING = ("title", "heading", "name")

csv.field_size_limit(max(csv.field_size_limit(), 1 << 24))


def read_csv(content: bytes, delimiter: str = ",") -> Document:
    r"""Returns the document of a CSV file with a header; see `read_json_lines`.

    Args:
        content: bytes. The file.
        delimiter: str. Character between two values. Default: ",".

    Raises:
        csv.Error: If it is not CSV.

    Example:

    >>> read_csv(b"day,opens\nMonday,9:00\n").text
    'day: Monday; opens: 9:00'
    """
    lines = io.StringIO(decode(content))
    return _document(csv.DictReader(lines, delimiter=delimiter, restkey="", strict=True))


def read_json_lines(content: bytes) -> Document:
    r"""Returns the document of JSON lines.

    The text of a row is that of the field `text`, `passage`, `context`, `paragraph`, `content` or
    `body`, or else all its fields by name. Its heading is `title`, `heading` or `name`, and its
    page the number of the row.

    Raises:
        ValueError: If a line is not a JSON object.

    Example:

    >>> read_json_lines(b'{"title": "Owls", "text": "An owl flew."}\n').text
    'Owls\n\nAn owl flew.'
    """

    def rows() -> Iterable[Mapping[str, Any]]:
        for number, line in enumerate(decode(content).split("\n"), 1):
            try:
                yield dict(json.loads(line.strip() or "{}"))
            except (ValueError, TypeError) as error:
                raise ValueError(f"line {number} is not a JSON object: {error}") from error

    return _document(rows())


def _document(rows: Iterable[Mapping[str, Any]]) -> Document:
    builder = DocumentBuilder()
    for row in rows:
        cells = {name: _words(value) for name, value in row.items() if name and value}
        text = next((cells.pop(name) for name in _TEXT if name in cells), "")
        heading = next((cells.pop(name) for name in _HEADING if name in cells), "") if text else ""
        builder.new_page()
        builder.add(heading, level=1)
        builder.add(text or "; ".join(f"{name}: {cell}" for name, cell in cells.items()))
    return builder.build()


def _words(value: Any) -> str:
    """Returns a value as text, the items of a list one after another."""
    return " ".join(map(_words, value)) if isinstance(value, list) else str(value)
