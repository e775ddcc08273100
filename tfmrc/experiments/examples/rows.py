"""Rows of the training files: which a run was trained on, and those held out, as a table."""

import csv
import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tfmrc.data import Example, RecordError, read_table
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.run_folder import describe_inputs
from tfmrc.utils.files import replacing, write_text

COLUMNS = ("id", "group", "question", "passage", "answer", "answerable", "relevance")


def row_digest(example: Example) -> str:
    """Returns a digest of a question and its passages, whatever its answers.

    Example:

    >>> one, other = (Example(name, "Who flew?", ("An owl flew.",)) for name in "ab")
    >>> row_digest(one) == row_digest(other)
    True
    """
    texts = [" ".join(text.split()) for text in (example.question, *example.passages)]
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def trained_rows(folder: Path) -> frozenset[str]:
    """Returns the digests of the rows that a run was trained on, as `row_digest` gives them."""
    path = folders.shared_file(folder, folders.TRAINED_ROWS)
    return frozenset(path.read_text(encoding="utf-8").split()) if path.is_file() else frozenset()


def seen_rows(plan: Plan) -> frozenset[str]:
    """Returns the digests of the rows of a run's training and validation, if files have changed.

    Other rows than before may then be drawn for the test, and some of them be known to the model.
    """
    noted = folders.read_json(folders.shared_file(plan.folder, folders.INPUTS), "prepare")["files"]
    try:
        is_same = noted == describe_inputs(plan.files)
    except ValueError:  # without the training files nothing is drawn from them
        is_same = True
    if is_same:
        return frozenset()
    held_out = folders.shared_file(plan.folder, folders.HELD_OUT)
    with suppress(RecordError):  # no row was held out
        return trained_rows(plan.folder) | set(map(row_digest, read_table(held_out)))
    return trained_rows(plan.folder)


def write_rows(folder: Path, trained: set[str], held_out: Iterable[Example]) -> None:
    """Writes the digests of the rows of the training, and the held-out rows as a table.

    Rows of the training that are held out, too, are not in the table. Every command reads it as a
    table of questions; `answerable` says that a row has no answer.

    Args:
        folder: Path. The run's folder.
        trained: set of str. Digests of the rows of the training.
        held_out: iterable of `Example`. The rows that are validated on.
    """
    write_text(folder / folders.TRAINED_ROWS, "\n".join(sorted(trained)))
    with (
        replacing(folder / folders.HELD_OUT) as part,
        part.open("w", encoding="utf-8-sig", newline="") as file,  # as spreadsheets expect
    ):
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(_cells(row) for row in held_out if row_digest(row) not in trained)


def _cells(example: Example) -> list[str | None]:
    """Returns the cells of a row; several texts are a list, answers of several styles by style."""
    answers: object = dict(example.answers)
    if len(example.answers) == 1:
        (answers,) = example.answers.values()
    known = None if example.answerable is None else str(example.answerable).lower()
    relevance = example.relevance and json.dumps(example.relevance)
    given = (example.question, _cell(example.passages), _cell(answers))
    return [example.id, example.group, *given, known, relevance or None]


def _cell(value: object) -> str | None:
    """Returns a single text as it is, nothing for none, and other values as JSON."""
    if isinstance(value, list | tuple) and len(value) == 1 and value[0][:1] not in "[{":
        return str(value[0])
    return json.dumps(value, ensure_ascii=False) if value else None
