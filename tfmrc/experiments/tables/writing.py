"""Answers and questions as tables, which are corrected in a spreadsheet and trained on."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

from tfmrc.data import Example, RecordError
from tfmrc.data.formats.sheets import save_sheet
from tfmrc.data.formats.tables import NAMES
from tfmrc.evaluation import Prediction
from tfmrc.utils.files import replacing
from tfmrc.utils.pipes import print_json

SHEETS = (".csv", ".tsv", ".xlsx")
COLUMNS = (
    "question", "answer", "best_guess", "probability", "is_confident", "passage", "start", "end",
    "error",
)  # fmt: skip
LABELS = ("answers", "answer_start", "spans", "answerable", "is_impossible", "relevance")
_TAKEN = {*COLUMNS, *(name for field in LABELS for name in NAMES[field])}


def row_of(
    prediction: Prediction, record: Example | RecordError, cells: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the row of a prediction: what was predicted, then all columns of the input.

    An answer that is not confident is a refusal: its `answer` is blank, and it is the `best_guess`.
    An answer from documents has its place, and is in the passage that was read. A broken record has
    its `error` in place of an answer. Labels of the input are `given_NAME`.

    Args:
        prediction: `Prediction`. The answer to the question, or the question about the answer.
        record: `Example` or `RecordError`. The row of the input.
        cells: dict. The cells of the row by column.
    """
    scores, asks = prediction.scores, "answer" in prediction.scores
    row: dict[str, Any] = {}
    if isinstance(record, RecordError) or prediction.error:
        row["error"] = prediction.error
    else:
        answer = scores["answer"] if asks else prediction.answer
        start = scores.get("answer_start" if asks else "start", -1)
        is_refused = not asks and not scores.get("is_confident", True)
        passage: Any = scores.get("passage") or 0
        place: dict[str, Any] = {}
        if "passage_start" in scores:  # from documents
            start = start - scores["passage_start"] if scores["sentence"] else -1  # else own words
            passage, place = scores["passage"], place_of(scores)
        else:
            passage = record.passages[max(passage, 0)]
        row = {
            "question": prediction.answer if asks else record.question,
            "answer": "" if is_refused else answer,
            **({"best_guess": answer} if is_refused else {}),
            "probability": scores.get("probability"),
            "is_confident": scores.get("is_confident"),
            "passage": passage,
            "start": start if start >= 0 else None,
            "end": start + len(answer) if start >= 0 else None,
            **({"spans": scores["spans"]} if "spans" in scores else {}),
            **place,
        }
    replaced = (_TAKEN | row.keys()) - ({"passage"} if asks else {"passage", "question"})
    given = {f"given_{n}" if n.strip().lower() in replaced else n: v for n, v in cells.items()}
    return row | given


def place_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the columns of the place of an answer from documents; none if there is none."""
    if "document" not in answer:
        return {}
    return {
        "document": answer["document"],
        "heading": " > ".join(answer.get("heading", ())),
        "page": answer.get("page"),
        "characters": f"{answer['start']}-{answer['end']}",
        "sentence": answer["sentence"],
    }


def new_table(output: str | Path) -> Path:
    """Returns the path of a table to write; one that exists may have been corrected by hand."""
    target = Path(output)
    if target.exists() or target.suffix not in SHEETS:
        raise ValueError(
            f"A table is written to a new file, whose name ends in {' or '.join(SHEETS)}. "
            f"Received: --output {output}"
        )
    return target


def write_table(
    target: Path | None,
    rows: Iterable[dict[str, Any]],
    sort: bool = False,
    header: Sequence[str] = (),
) -> None:
    """Writes rows as a table, or as JSON lines on standard output.

    Args:
        target: path or None. The file; None for standard output.
        rows: iterable of dict. The rows by column.
        sort: bool. Whether the least probable rows come first. Default: False.
        header: sequence of str. The columns, if they are known: each row is then written as it
            comes. Default: those of all rows.
    """
    if target is None:
        for row in rows:
            print_json(row, indent=None)
        return
    whole = not header
    if whole:
        rows = sorted(rows, key=lambda row: row.get("probability") or 0.0) if sort else list(rows)
        names = dict.fromkeys(name for row in rows for name in row)
        header = [*filter(names.__contains__, COLUMNS), *(n for n in names if n not in COLUMNS)]
    table = chain([header], ([_cell(row.get(name)) for name in header] for row in rows))
    with replacing(target) if whole else nullcontext(target) as part:
        if target.suffix == ".xlsx":
            save_sheet(part, table)
            return
        delimiter = "\t" if target.suffix == ".tsv" else ","
        # As spreadsheets expect, line by line.
        with part.open("w", 1, encoding="utf-8-sig", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows(table)


def _cell(value: object) -> Any:
    if isinstance(value, RecordError):  # of a cell that could not be read
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
