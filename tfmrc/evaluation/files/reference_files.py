"""Streaming readers of reference files that are one JSON object: SQuAD and MS MARCO v2.1."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import ijson

from tfmrc.evaluation.files.json_lines import DAMAGED, open_bytes

_QUESTION = "data.item.paragraphs.item.qas.item"
_SCALARS = ("string", "number", "boolean", "null")


def form_of(path: Path) -> Literal["squad", "columns", "lines"]:
    """Returns the form of a JSON file, from the first keys of its first object.

    An object with a list under `data` is SQuAD's. One with a mapping from row keys under
    `passages`, `query` or `query_id` is MS MARCO v2.1's. Anything else is read as JSON lines, whose
    reader names the line that is wrong.
    """
    with open_bytes(path) as file:
        try:
            for prefix, event, _ in ijson.parse(file, multiple_values=True):
                if (prefix, event) == ("data", "start_array"):
                    return "squad"
                if prefix in ("passages", "query", "query_id") and event != "map_key":
                    return "columns" if event == "start_map" else "lines"
                if (prefix, event) == ("", "end_map"):
                    return "lines"
        except (ijson.JSONError, *DAMAGED):
            return "lines"
    return "lines"


def squad_questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the questions of a file in SQuAD's form, without their paragraphs.

    Raises:
        ValueError: If the file is cut short or not JSON, or has no question.
    """
    none = True
    with open_bytes(path) as file, _errors(path):
        for question in ijson.items(file, _QUESTION, use_float=True):
            none = False
            yield question
    if none:
        raise ValueError(f"{path}: not SQuAD's form. Received: nothing under {_QUESTION}")


def column_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields row keys and records of MS MARCO v2.1's object of columns.

    The file is read once. Of the passages only the labels `is_selected` are held, as `relevance`,
    so memory is about that of the references.

    Raises:
        ValueError: If the file is cut short or not JSON, or has no column `query_id`.
    """
    with open_bytes(path) as file, _errors(path):
        columns = _columns(ijson.basic_parse(file, use_float=True))
    if "query_id" not in columns:
        raise ValueError(f"{path}: no column 'query_id'. Received: columns {sorted(columns)}")
    for row in list(columns["query_id"]):
        record = {name: column.pop(row, None) for name, column in columns.items()}
        labels = record.pop("passages", None)
        if labels and None not in labels:
            record["relevance"] = labels
        yield row, record


def _columns(events: Any) -> dict[str, dict[str, Any]]:
    """Builds columns from parser events: scalars and lists of scalars by row, and the labels.

    Depth 1 is the object of columns, 2 a column, 3 the list of a row, 4 a passage in it.
    """
    columns: dict[str, dict[str, Any]] = {}
    column: dict[str, Any] = {}
    depth, row, key = 0, "", ""
    for event, value in events:
        if event == "map_key":
            if depth == 1:
                column = columns[value] = {}
            elif depth == 2:
                row = value
            else:
                key = value
        elif event in _SCALARS:
            if depth == 2:
                column[row] = value
            elif depth == 3:
                column[row].append(value)
            elif depth == 4 and key == "is_selected":
                column[row][-1] = value
        elif event.startswith("start"):
            depth += 1
            if depth == 3:
                column[row] = []
            elif depth == 4:
                column[row].append(None)
        else:
            depth -= 1
    return columns


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except DAMAGED as error:
        raise ValueError(
            f"{path}: the compressed file is damaged or cut short ({error})"
        ) from error
    except ijson.JSONError as error:
        message = error.args[0] if error.args else error
        text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        reason = " ".join(text.split("(right here)")[0].split())
        raise ValueError(f"{path}: not JSON, or cut short. Received: {reason}") from error
