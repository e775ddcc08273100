"""Predictions as a table, and questions about the passages of a table."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tfmrc.data import Account, Example, RecordError
from tfmrc.data.formats.tables import field_columns
from tfmrc.evaluation import Prediction, read_predictions
from tfmrc.experiments.answering import Asked, prediction_of
from tfmrc.experiments.loaded import Loaded
from tfmrc.experiments.tables.reading import Reading, Record, Rows, read_questions
from tfmrc.experiments.tables.writing import row_of, write_table


def predict_table(
    rows: Rows, records: Iterable[Record], predictions: Path, target: Path, sort: bool
) -> None:
    """Writes predictions as a table, which `tfmrc init` reads as training data.

    Args:
        rows: `Rows`. The questions.
        records: iterable of `Example` and `RecordError`. Those of a pass over the rows.
        predictions: path. Their predictions, a file that is removed.
        target: path. The table.
        sort: bool. Whether the least certain answers come first.
    """
    found = read_predictions(predictions)
    table = (row_of(found[record.id], record, rows.cells_of(record)) for record in records)
    write_table(target, table, sort)
    predictions.unlink()


def ask_table(
    model: Loaded, passages: str | Path, target: Path | None, sort: bool, reading: Reading
) -> Account:
    """Asks about the passages of a table without questions.

    Without a column of answers, the model finds what it asks about.

    Args:
        model: `Loaded`. The model.
        passages: str or path. The table.
        target: path or None. The table to write; None for JSON lines on standard output.
        sort: bool. Whether the least probable questions come first.
        reading: `Reading`. How the table is read.

    Returns:
        The account of the rows.

    Raises:
        RecordError: If the model does not ask, or finds no answers and is given none.
    """
    columns = reading.get("columns") or {}
    known = field_columns(passages, columns)
    tasks = [task.name for task in model.predictor.tasks if task.target == "question"]
    finds = hasattr(model.predictor, "generate_from_passage")
    if not tasks or not (finds or "answers" in known):
        list(read_questions(passages, labels="none", columns=columns)[0])  # no questions, it says
    chosen: Reading = {**reading, "columns": {**known, "question": known["passages"]}}
    rows, account = read_questions(passages, labels="none", **chosen)
    asked = Asked.of(model.predictor, tasks[0])
    held: deque[tuple[Record, Mapping[str, Any]]] = deque()  # until their questions are there

    def examples() -> Iterator[Example]:
        for record in rows.mapped(asked) if "answers" in known else rows:
            held.append((record, rows.cells_of(record)))
            if isinstance(record, Example):
                yield record

    if "answers" in known:
        asking = model.predictor.predict(examples(), task=tasks[0], **model.options)
        results = ([question] for question in asking)
    else:
        given = (example.passages[0] for example in examples())
        finder: Any = model.predictor
        results = finder.generate_from_passage(given, **model.options)

    def table() -> Iterator[dict[str, Any]]:
        for questions in results:
            while isinstance(held[0][0], RecordError):
                yield _broken(*held.popleft())
            record, cells = held.popleft()
            for question in questions:
                yield row_of(prediction_of(record.id, question, tasks[0]), record, cells)
        while held:
            yield _broken(*held.popleft())

    write_table(target, table(), sort)
    return account


def _broken(record: Record, cells: Mapping[str, Any]) -> dict[str, Any]:
    return row_of(Prediction(record.id, "", error=str(record)), record, cells)
