"""Detection of a file's format."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import fields
from os import PathLike
from typing import Any, cast

import ijson

from tfmrc.data.example import Example
from tfmrc.data.formats.registry import find_format
from tfmrc.data.formats.tables import is_table
from tfmrc.data.formats.wikiqa import COLUMNS
from tfmrc.data.stream import ExampleStream, RecordError, open_binary, open_text

EXAMPLE_FIELDS = {field.name for field in fields(Example)}
MARCO_FIELDS = {"answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers"}
MARCO_TEXTS = {"answers", "passages"}
_START = 1 << 16


def read_file(
    path: str | PathLike,
    *,
    columns: Mapping[str, Any] | None = None,
    columns_optional: bool = False,
    **options: Any,
) -> ExampleStream:
    """Reads a file of any known format with the matching reader.

    NarrativeQA's ``qaps.csv`` needs ``summaries.csv`` in the same folder or at its path in the
    official repository. TriviaQA's files need the folder ``evidence`` next to their own folder, as
    in the official archive.

    Args:
        path: str or path. The file.
        columns, columns_optional: Columns of a table, see `read_table`. Default: None, False.
        **options: Options of the reader, such as `on_error`.

    Returns:
        An `ExampleStream`.

    Raises:
        RecordError: The format is unknown, or evidence is missing.
        ValueError: There are columns, and the file is no table.
    """
    name = file_format(path, None if columns_optional else columns)
    if name == "table":
        options |= {"columns": columns, "columns_optional": columns_optional}
    known = find_format(name)
    return cast(ExampleStream, known.reader(path, **options | known.besides(path, options)))


def file_format(path: str | PathLike, columns: Mapping[str, Any] | None = None) -> str:
    """Returns the name of a file's format, which its beginning shows.

    The names are ``"squad"``, ``"msmarco"``, ``"narrativeqa"``, ``"dream"``, ``"triviaqa"``,
    ``"wikiqa"``, ``"examples"`` (the JSON lines of `write_examples`) and ``"table"`` (a user's own
    table, see `read_table`).

    Args:
        path: str or path. The file.
        columns: dict or None. Columns of a table that are given for it; its names may then happen
            to be those of an official form. Default: None.

    Raises:
        RecordError: The beginning of the file matches no known format.
        ValueError: There are columns, and the file is no table.
    """
    name = _format(path)
    if columns and name in ("examples", "msmarco", "narrativeqa") and is_table(path):
        return "table"
    if columns and name != "table":
        raise ValueError(f"Columns belong to a table. Received: {path}, whose form is {name}")
    return name


def _format(path: str | PathLike) -> str:
    with open_binary(path) as file:
        start = file.read(_START).lstrip()
    if start.startswith(b"["):
        return "dream" if start[1:].lstrip().startswith(b"[") else "table"
    if start.startswith("\t".join(COLUMNS).encode()):
        return "wikiqa"
    if start.startswith(b"{"):
        names = set(_names(start))
        if "data" in names:
            return "squad"
        if "Data" in names:
            return "triviaqa"
        # A user's table may have these three columns, too.
        if names <= MARCO_FIELDS and ("query" not in names or names - {"query", *MARCO_TEXTS}):
            return "msmarco"
        if names <= EXAMPLE_FIELDS and _is_example(path):
            return "examples"
        if "question" in names:
            return "table"
    elif not start.startswith(b"PAR1"):
        with open_text(path, newline="") as text:
            try:
                header = next(csv.reader(text), [])
            except csv.Error:  # a field is too long
                header = []
        if {"document_id", "question", "answer1"} <= set(header):
            return "narrativeqa"
    if is_table(path):
        return "table"
    raise RecordError(
        "is of no known format: SQuAD, MS MARCO, DREAM, TriviaQA, WikiQA, NarrativeQA's qaps.csv, "
        "examples, or a table (.csv, .tsv, .json, .jsonl, .parquet)",
        path=path,
        record="file",
    )


def _is_example(path: str | PathLike) -> bool:
    """Returns True if the first line is an `Example`; a table may have the same names."""
    with open_binary(path) as file:
        try:
            Example.from_json(file.readline())
        except (AttributeError, TypeError, ValueError, RecursionError):
            return False
    return True


def _names(start: bytes) -> Iterator[str]:
    """Yields the keys of the outermost object, as far as they are in `start`."""
    try:
        for prefix, event, value in ijson.parse(io.BytesIO(start), multiple_values=True):
            if event == "map_key" and not prefix:
                yield value
            if event == "end_map" and not prefix:
                return
    except (ijson.JSONError, UnicodeDecodeError):
        return  # `start` ends within the object, or the reader names the damage
