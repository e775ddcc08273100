"""CSV, TSV and JSON lines: each row is a page of its own."""

import csv
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tfmrc.documents.document import Document, DocumentBuilder
from tfmrc.documents.formats.encoding import decode
from tfmrc.documents.formats.registry import register_document_format

_TEXT = ("text", "passage", "passages", "context", "paragraph", "content", "contents", "body")
_HEADING = ("title", "heading", "name")

csv.field_size_limit(max(csv.field_size_limit(), 1 << 24))


@register_document_format(".csv")
def read_csv(content: bytes) -> Document:
    r"""Returns the document of a CSV file with a header; see `read_json_lines`.

    Raises:
        ValueError: If it is not CSV.

    Example:

    >>> read_csv(b"day,opens\nMonday,9:00\n").text
    'day: Monday; opens: 9:00'
    """
    return _read_delimited(content, ",")


@register_document_format(".tsv")
def read_tsv(content: bytes) -> Document:
    """Returns the document of a file of values between tabs; see `read_json_lines`."""
    return _read_delimited(content, "\t")


@register_document_format(".jsonl", ".ndjson")
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
                row = json.loads(line) if line.strip() else {}
            except (ValueError, RecursionError) as error:
                raise ValueError(f"is not JSON in line {number}: {error}") from error
            if not isinstance(row, dict):
                raise ValueError(f"must have a JSON object in line {number}")
            yield row

    return _document(rows())


def _read_delimited(content: bytes, delimiter: str) -> Document:
    lines = decode(content).splitlines(keepends=True)
    try:
        rows = list(csv.DictReader(lines, delimiter=delimiter, restkey="", strict=True))
    except csv.Error as error:
        raise ValueError(f"is not CSV: {error}") from error
    return _document(rows)


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
