"""Detection of a file's format."""

import csv
import re
from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from typing import Any, cast

from tfmrc.data.example import Example, short
from tfmrc.data.formats.json_stream import json_shape
from tfmrc.data.formats.registry import find_format
from tfmrc.data.formats.rows import BlankAnswers
from tfmrc.data.formats.tables import NAMES, SUFFIXES, field_columns, is_table
from tfmrc.data.formats.wikiqa import COLUMNS
from tfmrc.data.stream import ExampleStream, Labels, RecordError, open_binary, open_text

EXAMPLE_FIELDS = {field.name for field in fields(Example)}
MARCO_FIELDS = {"answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers"}


def read_file(
    path: str | PathLike,
    *,
    split: str | None = None,
    columns: Mapping[str, Any] | None = None,
    columns_optional: bool = False,
    labels: Labels = "all",
    blank_answers: BlankAnswers | None = None,
    **options: Any,
) -> ExampleStream:
    """Reads a file of any known format with the matching reader.

    NarrativeQA's ``qaps.csv`` needs ``summaries.csv`` in the same folder or at its path in the
    official repository. TriviaQA's files need the folder ``evidence`` next to their own folder, as
    in the official archive.

    Args:
        path: str or path. The file.
        split: str or None. Split of NarrativeQA. Default: None, the whole file.
        columns, columns_optional: Columns of a table, see `read_table`. Default: None, False.
        labels: str. What must be right, see `ExampleStream`. Default: "all".
        blank_answers: str or None. Whether a blank answer of a table or of SQuAD's form is
            `"unknown"`, or means that there is `"none"`. Default: see `read_table`.
        **options: Options of the reader, such as `on_error`.

    Returns:
        An `ExampleStream`.

    Raises:
        RecordError: The format is unknown, or evidence is missing.
        ValueError: If columns are given and the file is not a table.
    """
    name = file_format(path, None if columns_optional else columns)
    if name == "table":
        options |= {"columns": columns, "columns_optional": columns_optional}
    if blank_answers and name in ("table", "squad"):
        options["blank_answers"] = blank_answers
    if split is not None:
        options["split"] = split
    known = find_format(name)
    stream = cast(ExampleStream, known.reader(path, **options | known.besides(path, options)))
    stream.labels = labels
    return stream


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
        ValueError: If columns are given and the file is not a table.
    """
    name = _format(path, columns)
    if columns and name in ("examples", "msmarco", "narrativeqa") and is_table(path):
        return "table"
    if columns and name != "table":
        raise ValueError(f"Columns belong to a table. Received: {path}, whose form is {name}")
    return name


def has_questions(path: str | PathLike[str], columns: Mapping[str, Any]) -> bool:
    """Returns False for a table that has a column of passages and none of questions.

    Args:
        path: str or path. A file of any format.
        columns: dict from field to column, which the table may lack.
    """
    try:
        return file_format(path) != "table" or "question" in field_columns(path, columns, True)
    except RecordError:  # a clearer one follows where it is read
        return True


def _format(path: str | PathLike, columns: Mapping[str, Any] | None) -> str:
    with open_binary(path) as file:
        start = file.read(1 << 12).lstrip()
    if start.startswith("\t".join(COLUMNS).encode()):
        return "wikiqa"
    if start[:1] in (b"[", b"{"):
        return _json_format(path, json_shape(path), columns)
    if not start.startswith((b"PAR1", b"PK")):
        with open_text(path, newline="") as text:
            try:
                header = next(csv.reader(text), [])
            except csv.Error:  # a field is too long
                header = []
        if {"document_id", "question", "answer1"} <= set(header):
            return "narrativeqa"
    if is_table(path):
        return "table"
    raise _unknown(path, f"a file that begins with {short(start[:60])}")


def _json_format(
    path: str | PathLike, shape: Mapping[str, str], columns: Mapping[str, Any] | None
) -> str:
    outside = next((name for name in ("data.item", "item") if name in shape), "")
    below = outside and f"{outside}."
    inside = [name for name in shape if name.startswith(below) and name not in ("", outside)]
    kinds = {name.removeprefix(below): shape[name] for name in inside}
    names = {name for name in kinds if "." not in name}
    if shape.get("item") == "start_array":
        return "dream"
    if "Data" in names:
        return "triviaqa"
    is_empty = not outside and shape.get("data") == "start_array"
    if is_empty or not names.isdisjoint(("paragraphs", "qas")):
        return "squad"
    if names and names <= MARCO_FIELDS:
        if any(re.search(r"\bpassage_text$|^\w+\.\d+$", name) for name in kinds):
            return "msmarco"
    forms = (shape.get("question"), shape.get("passages"), shape.get("answers", "start_map"))
    is_example = names <= EXAMPLE_FIELDS and "answers.text" not in kinds
    if is_example and forms == ("string", "start_array", "start_map"):
        return "examples"
    is_flat = is_table(path) and "start_map" not in kinds.values()
    if columns or is_flat or not names.isdisjoint(NAMES["question"]):
        return "table"
    where = {"": "an object", "item": "a list of objects"}.get(outside, "objects below `data`")
    raise _unknown(path, f"{where} with the keys {', '.join(map(short, sorted(names)))}")


def _unknown(path: str | PathLike, seen: str) -> RecordError:
    return RecordError(
        f"is of no known format: {seen}. Needed: rows with a question and a passage "
        f"({', '.join(SUFFIXES)}), articles or paragraphs of SQuAD, MS MARCO, DREAM, TriviaQA, "
        "WikiQA, NarrativeQA's qaps.csv, or examples",
        path=path,
        record="file",
    )
