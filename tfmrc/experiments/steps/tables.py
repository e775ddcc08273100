"""Answers and questions as tables, which are corrected in a spreadsheet and trained on."""

import csv
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Unpack

from tfmrc.data import Example, RecordError, read_table, with_exact_spans
from tfmrc.data.formats.tables import NAMES, field_columns, save_sheet
from tfmrc.evaluation import read_predictions
from tfmrc.experiments.loaded import open_model
from tfmrc.experiments.steps.predict import predict
from tfmrc.experiments.tables.reading import Reading, read_questions
from tfmrc.utils.files import replacing
from tfmrc.utils.pipes import print_json
from tfmrc.utils.progress import show_progress

__all__ = ["ask_table", "predict_table"]

SHEETS = (".csv", ".tsv", ".xlsx")
LABELS = ("answers", "answer_start", "spans", "answerable", "is_impossible", "relevance")


@show_progress()
def predict_table(
    folder: str | Path,
    questions: str | Path,
    output: str | Path,
    *,
    sort: bool = False,
    **how: Any,
) -> list[RecordError]:
    """Predicts the examples of a file into a table, which `tfmrc init` reads as training data.

    A row has question, answer, probability, whether it is confident, the passage and the
    characters of the answer in it, and all columns of the input: labels as `given_NAME`. Until the
    table is written, `OUTPUT.jsonl` has the predictions, from which the same command goes on.

    Args:
        folder, questions, **how: As of `tfmrc.experiments.predict`.
        output: str or path. A file `.csv`, `.tsv` or `.xlsx` (needs openpyxl) that does not exist.
        sort: bool. Whether the least certain answers come first. Default: False.

    Returns:
        The errors of broken records, which are not in the table.

    Raises:
        ValueError: If `output` exists, and as `tfmrc.experiments.predict`.
    """
    target = _new(output)
    predictions = target.with_name(f"{target.name}.jsonl")
    errors = predict(folder, questions, predictions, **how)
    found, usual = read_predictions(predictions), open_model(folder).table_options
    given = {name: how[name] for name in ("columns", "blank_answers") if name in how}
    rows, _ = read_questions(questions, labels="none", usual=usual, on_error="skip", **given)
    table = (
        _row(found[example.id].answer, found[example.id].scores, example, rows.cells)
        for example in rows.examples
        if example.id in found  # a model that asks needs an answer
    )
    _write(target, table, sort)
    predictions.unlink()
    return errors


@show_progress()
def ask_table(
    folder: str | Path,
    passages: str | Path,
    output: str | Path | None = None,
    *,
    sort: bool = False,
    options: Mapping[str, Any] | None = None,
    **reading: Unpack[Reading],
) -> list[RecordError]:
    """Asks about the passages of a table without questions.

    The rows are those of `predict_table`. Without a column of answers, the model finds what it
    asks about.

    Args:
        folder, options, **reading: As of `tfmrc.experiments.predict`.
        passages: str or path. The table.
        output: str, path or None. As of `predict_table`; None for JSON lines on standard output.
        sort: bool. Whether the least probable questions come first. Default: False.

    Returns:
        The errors of broken rows.

    Raises:
        RecordError: If the model does not ask, or finds no answers and is given none.
    """
    target = None if output is None else _new(output)
    columns, on_error = reading.pop("columns", None) or {}, reading.pop("on_error", None) or "skip"
    known = field_columns(passages, columns)
    read_as = {**known, "question": known["passages"]}
    reading |= {"columns": read_as, "on_error": on_error}
    rows, account = read_questions(passages, labels="none", **reading)
    model = open_model(folder, options)
    predictor, chosen = model.predictor, model.options
    tasks = [task for task in predictor.tasks if task.target == "question"]
    finds = hasattr(predictor, "generate_from_passage")
    if not tasks or not (finds or "answers" in known):
        next(iter(read_table(passages, columns=columns)))  # says that there are no questions
    read: deque[tuple[Example, Mapping[str, Any]]] = deque()

    def examples() -> Iterator[Example]:
        for example in rows.examples:
            for found in with_exact_spans([example], "span") if "answers" in known else [example]:
                read.append((found, rows.cells))
                yield found

    if "answers" in known:
        results = ([one] for one in predictor.predict(examples(), task=tasks[0], **chosen))
    else:
        given = (example.passages[0] for example in examples())
        results = predictor.generate_from_passage(given, **chosen)
    asked = ((read.popleft(), several) for several in results)
    table = (_row(one.text, one.to_json(), *about) for about, several in asked for one in several)
    _write(target, table, sort)
    account.print(Path(passages).name)
    return account.errors


def _row(
    text: str, scores: Mapping[str, Any], example: Example, cells: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns a row of a table; columns of the input that were labels are renamed."""
    asks = "answer" in scores
    question, answer = (text, scores["answer"]) if asks else (example.question, text)
    start = scores.get("answer_start" if asks else "start", -1)
    row = {
        "question": question,
        "answer": answer,
        "probability": scores.get("probability"),
        "confident": scores.get("is_confident"),
        "passage": example.passages[max(scores.get("passage") or 0, 0)],
        "start": start if start >= 0 else None,
        "end": start + len(answer) if start >= 0 else None,
    }
    taken = {*row, *(name for field in LABELS for name in NAMES[field])}
    taken -= {"passage"} if asks else {"passage", "question"}
    given = {f"given_{n}" if n.strip().lower() in taken else n: v for n, v in cells.items()}
    return row | given


def _new(output: str | Path) -> Path:
    """Returns the path of a table to write; one that exists may have been corrected by hand."""
    target = Path(output)
    if target.exists() or target.suffix not in SHEETS:
        raise ValueError(
            f"Tables are written to a new file, whose name ends in one of {', '.join(SHEETS)}. "
            f"Received: --output {output}"
        )
    return target


def _write(target: Path | None, rows: Iterable[dict[str, Any]], sort: bool) -> None:
    if target is None:
        for row in rows:
            print_json(row, indent=None)
        return
    held = sorted(rows, key=lambda row: row["probability"] or 0.0) if sort else list(rows)
    header = list(dict.fromkeys(name for row in held for name in row))
    cells = [
        [json.dumps(cell, ensure_ascii=False) if isinstance(cell, list | dict) else cell
         for cell in map(row.get, header)]
        for row in held
    ]  # fmt: skip
    with replacing(target) as part:
        if target.suffix == ".xlsx":
            save_sheet(part, [header, *cells])
            return
        with part.open("w", encoding="utf-8-sig", newline="") as file:  # as spreadsheets expect
            writer = csv.writer(file, delimiter="\t" if target.suffix == ".tsv" else ",")
            writer.writerows([header, *cells])
