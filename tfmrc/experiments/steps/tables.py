"""Predictions as a table, and questions about the passages of a table or of documents."""

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tfmrc.data import Account, Example, RecordError
from tfmrc.data.formats.tables import field_columns
from tfmrc.documents import DocumentCollection, Passage, load as load_documents
from tfmrc.evaluation import Prediction, read_predictions
from tfmrc.evaluation.metrics.squad import best_match
from tfmrc.experiments.answering import Asked, prediction_of
from tfmrc.experiments.loaded import Loaded
from tfmrc.experiments.tables.reading import Reading, Record, Rows, read_questions
from tfmrc.experiments.tables.writing import (
    in_its_passage,
    new_table,
    place_of,
    row_of,
    write_table,
)
from tfmrc.utils.progress import counted

ALIKE = 0.5  # least F1 of the words of two answers


def predict_table(
    rows: Rows,
    records: Iterable[Record],
    predictions: Path,
    target: Path,
    sort: bool,
    collection: DocumentCollection | None = None,
) -> None:
    """Writes predictions as a table, which `tfmrc init` reads as training data.

    Args:
        rows: `Rows`. The questions.
        records: iterable of `Example` and `RecordError`. Those of a pass over the rows.
        predictions: path. Their predictions, a file that is removed.
        target: path. The table.
        sort: bool. Whether the least certain answers come first.
        collection: `DocumentCollection` or None. The documents that were answered from.
            Default: None.
    """
    found = read_predictions(predictions)

    def row(record: Record) -> dict[str, Any]:
        prediction, cells = found[record.id], rows.cells_of(record)
        if collection is None or not isinstance(record, Example):
            return row_of(prediction, record, cells)
        prediction, asked, place = in_its_passage(prediction, record, collection)
        return row_of(prediction, asked, cells, place)

    write_table(target, map(row, records), sort)
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


def ask_documents(
    asker: Any,
    documents: str | Path,
    output: str | Path | None = None,
    *,
    reader: Any = "ready",
    **options: Any,
) -> None:
    """Asks about the passages of documents, and keeps the questions that a reader answers alike.

    A question is kept if the reader's answer from the same passage is confident and shares words
    with the answer that was asked about: F1 of at least 0.5.

    Args:
        asker: A predictor that finds what it asks about.
        documents: str or path. An index of documents, as of `tfmrc.documents.load`.
        output: str, path or None. The table to write, which `tfmrc init` reads; None for JSON lines
            on standard output. Default: None.
        reader: str, path or predictor. What answers, as of `tfmrc.documents.load`. Default:
            "ready".
        **options: Options of the asker.

    Raises:
        ValueError: If the table exists.
    """
    target = None if output is None else new_table(output)
    with load_documents(documents, reader) as collection:
        passages = list({each.text: each for each in collection.store.passages()}.values())
        asking = asker.generate_from_passage([each.text for each in passages], **options)
        named = zip(counted(passages, "asking", "passages"), asking, strict=True)
        asked = [(passage, question) for passage, found in named for question in found]
        kept = list(_answered(asked, collection.predictor))
    print(
        f"{len(asked):,} questions about {len(passages):,} passages; kept: {len(kept):,}, which "
        "the reader answers alike.",
        file=sys.stderr,
    )
    write_table(target, kept, sort=False)


def _answered(asked: Sequence[tuple[Passage, Any]], reader: Any) -> Iterator[dict[str, Any]]:
    """Yields the rows of the questions that a reader answers alike."""
    queries = [{"question": each.text, "passages": [passage.text]} for passage, each in asked]
    answers = zip(counted(asked, "answering", "questions"), reader.predict(queries), strict=True)
    for (passage, question), found in answers:
        answer, start = question.answer, question.answer_start
        if found.is_confident and best_match(found.text, [answer])[1] >= ALIKE:
            page = passage.page_at(passage.start + start)
            yield {
                "question": question.text,
                "answer": answer,
                "probability": found.probability,
                "is_confident": True,
                "passage": passage.text,
                "start": start,
                "end": start + len(answer),
                **place_of(passage.document, passage.heading, page),
            }


def _broken(record: Record, cells: Mapping[str, Any]) -> dict[str, Any]:
    return row_of(Prediction(record.id, "", error=str(record)), record, cells)
