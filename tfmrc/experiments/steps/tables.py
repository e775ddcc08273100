"""Predictions as a table, and questions about the passages of a table or of documents."""

import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
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
from tfmrc.experiments.tables.writing import new_table, row_of, write_table
from tfmrc.utils.batches import batches_of
from tfmrc.utils.progress import Progress

ALIKE = 0.5  # least F1 of the words of two answers
TOGETHER = 32  # passages
ASKED = (
    "question", "answer", "probability", "is_confident", "passage", "start", "end",
    "document", "heading", "page",
)  # fmt: skip


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


def ask_documents(
    asker: Any,
    documents: str | Path,
    output: str | Path | None = None,
    *,
    reader: Any = "ready",
    **options: Any,
) -> None:
    """Asks about the passages of documents, and keeps what a reader answers correctly.

    A question is kept if the reader's answer from the same passage is confident and shares words
    with the answer that was asked about: F1 of at least 0.5. Some passages are held at a time, and
    each row is written as it comes.

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
    counts: Counter[str] = Counter()
    with load_documents(documents, reader) as collection:
        rows = _answered_alike(asker, collection, options, counts)
        write_table(target, rows, header=ASKED)
    print(
        f"{counts['questions']:,} questions about {counts['passages']:,} passages; kept: "
        f"{counts['kept']:,}, to which the reader finds the answer.",
        file=sys.stderr,
    )


def _answered_alike(
    asker: Any, collection: DocumentCollection, options: Mapping[str, Any], counts: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the questions that the reader answers right, and counts them."""
    reader: Any = collection.predictor
    progress = Progress("asking", 0, "passages")
    for passages in batches_of(_once(collection.store.passages()), TOGETHER):
        asking = asker.generate_from_passage([each.text for each in passages], **options)
        asked = [
            (passage, each)
            for passage, found in zip(passages, asking, strict=True)
            for each in found
        ]
        queries = [{"question": each.text, "passages": [passage.text]} for passage, each in asked]
        for (passage, question), found in zip(asked, reader.predict(queries), strict=True):
            answer, start = question.answer, question.answer_start
            if not found.is_confident or best_match(found.text, [answer])[1] < ALIKE:
                continue
            counts["kept"] += 1
            cells = (question.text, answer, found.probability, True, passage.text, start)
            page = passage.page_at(passage.start + start)
            place = (start + len(answer), passage.document, " > ".join(passage.heading), page)
            yield dict(zip(ASKED, (*cells, *place), strict=True))
        counts.update(passages=len(passages), questions=len(asked))
        progress.update(counts["passages"])


def _once(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Yields the passages without repeated texts."""
    seen: set[int] = set()
    for passage in passages:
        if (number := hash(passage.text)) not in seen:
            seen.add(number)
            yield passage


def _broken(record: Record, cells: Mapping[str, Any]) -> dict[str, Any]:
    return row_of(Prediction(record.id, "", error=str(record)), record, cells)
