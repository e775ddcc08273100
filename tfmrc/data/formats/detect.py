"""Detection of a file's format."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import fields
from os import PathLike
from typing import Any, cast

import ijson

from tfmrc.data.example import Example
from tfmrc.data.formats.registry import find_format
from tfmrc.data.formats.tables import is_table, read_table
from tfmrc.data.formats.wikiqa import COLUMNS
from tfmrc.data.stream import ExampleStream, OnError, RecordError, open_binary, open_text

EXAMPLE_FIELDS = {each.name for each in fields(Example)}
MARCO_FIELDS = {"answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers"}
_START = 1 << 16


def read_file(
    path: str | PathLike,
    *,
    on_error: OnError = "raise",
    split: str | None = None,
    columns: Mapping[str, Any] | None = None,
    columns_optional: bool = False,
) -> ExampleStream:
    """Reads a file of any known format with the matching reader.

    NarrativeQA's ``qaps.csv`` needs ``summaries.csv`` in the same folder or at its path in the
    official repository. TriviaQA's files need the folder ``evidence`` next to their own folder, as
    in the official archive.

    Args:
        path: str or path. The file.
        on_error: str. ``"raise"`` or ``"skip"``, as for all readers. Default: ``"raise"``.
        split: str. Split of NarrativeQA; other forms have none. Default: None, all splits.
        columns, columns_optional: Columns of a table, see `read_table`. Default: None, False.

    Returns:
        An `ExampleStream`.

    Raises:
        RecordError: The format is unknown, or summaries or evidence are missing.
        ValueError: There are columns, and the file is no table; or a split, and it is not
            NarrativeQA's.
    """
    name = file_format(path, None if columns_optional else columns)
    if split is not None and name != "narrativeqa":
        raise ValueError(
            f"A split (--split) is one of NarrativeQA's qaps.csv; {path}, whose form is {name}, is "
            f"read as a whole. Received: split={split!r}"
        )
    if name == "table":
        return read_table(
            path, columns=columns, on_error=on_error, columns_optional=columns_optional
        )
    options: dict[str, Any] = {"on_error": on_error}
    if split is not None:
        options["split"] = split
    known = find_format(name)
    return cast(ExampleStream, known.reader(path, **options, **known.besides(path, {})))


def file_format(path: str | PathLike, columns: Mapping[str, Any] | None = None) -> str:
    """Returns the name of a file's format.

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
        start = file.read(_START)
    if start.startswith(b"PAR1"):
        return "table"
    if start.lstrip()[:1] == b"[":
        return "dream" if start.lstrip()[1:].lstrip()[:1] == b"[" else "table"
    if start.startswith("\t".join(COLUMNS).encode()):
        return "wikiqa"
    if start.lstrip()[:1] == b"{":
        names = set(_names(start))
        if "data" in names:
            return "squad"
        if "Data" in names:
            return "triviaqa"
        if names & MARCO_FIELDS and not names & {"id", "question"} and _is_marco(start, path):
            return "msmarco"
        if {"id", "question"} <= names <= EXAMPLE_FIELDS and _is_example(path):
            return "examples"
        if "question" in names or is_table(path):
            return "table"
    else:
        with open_text(path, newline="") as text:
            try:
                header = next(csv.reader(text), [])
            except csv.Error:  # such as a field longer than `csv_rows.FIELD_LIMIT`
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


def _is_marco(start: bytes, path: str | PathLike) -> bool:
    """Returns True if a file's first object is one of MS MARCO and no row of a table.

    The passages of MS MARCO are objects, and so are the columns of its large files.
    """
    names: set[str] = set()
    events: Any = ijson.parse(_Once(start), multiple_values=True)
    is_table_row = False
    try:
        for prefix, event, value in events:
            if event == "map_key" and not prefix:
                names.add(value)
            if event == "start_map" and prefix in ("passages", "passages.item"):
                return True
            if prefix == "wellFormedAnswers":
                return True
            if prefix == "answers" and event == "map_key":
                is_table_row |= value in ("text", "answer_start")  # as of Hugging Face
            if event == "end_map" and not prefix:
                is_table_row = True
                break
    except (ijson.JSONError, UnicodeDecodeError):
        # `start` ends within the object, maybe within passages that are texts.
        is_table_row |= "passages" in names or not names <= MARCO_FIELDS
    official = names & {"query", "query_id", "answers"}
    return bool(official) and not (is_table_row and is_table(path))


def _is_example(path: str | PathLike) -> bool:
    """Returns True if a file's first object has the names and the types of an `Example`.

    A row of a table with the same names may have a text as passage and a list of answers. The
    object is read to its end, because a long passage may precede the answers.
    """
    rows = {"id": ("number",), "passages": ("string", "null"), "answers": ("string", "start_array")}
    with open_binary(path) as file:
        events: Any = ijson.parse(file, multiple_values=True)
        try:
            for prefix, event, value in events:
                if event in rows.get(prefix, ()):
                    return False
                if event == "map_key" and not prefix and value not in EXAMPLE_FIELDS:
                    return False
                if event == "end_map" and not prefix:
                    break
        except (ijson.JSONError, UnicodeDecodeError):
            pass  # the reader names the damage
    return True


def _names(start: bytes) -> Iterator[str]:
    """Yields the keys of the outermost object, as far as they are in `start`."""
    events: Any = ijson.parse(_Once(start), multiple_values=True)
    try:
        for prefix, event, value in events:
            if event == "map_key" and not prefix:
                yield value
            if event == "end_map" and not prefix:
                return
    except (ijson.JSONError, UnicodeDecodeError):
        return  # `start` ends within the object, or the reader names the damage


class _Once:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int = -1) -> bytes:
        size = len(self._data) if size < 0 else size
        data, self._data = self._data[:size], self._data[size:]
        return data
