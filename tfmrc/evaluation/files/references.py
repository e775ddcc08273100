"""References from the official files, with the fields that scoring uses."""

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfmrc.evaluation.files.json_lines import open_text, read_json_lines, short
from tfmrc.evaluation.files.reference_files import column_records, form_of, squad_questions
from tfmrc.evaluation.metrics.rules import NO_ANSWER

SPLITS = ("train", "valid", "test")  # of NarrativeQA


@dataclass(frozen=True)
class Reference:
    """Reference of one example.

    Args:
        id: str. The id of the example.
        answers: tuple of str. The reference texts. Empty if the question has no answer.
        question: str. Text of the question, if the file has it. Default: "".
        query_type: str. MS MARCO's type of the question, if the file has it. Default: "".
        answerable: bool or None. Whether the question can be answered. None if unknown.
            Default: None.
        relevance: tuple of bool or None. One truth value per passage. None if unknown.
            Default: None.
    """

    id: str
    answers: tuple[str, ...]
    question: str = ""
    query_type: str = ""
    answerable: bool | None = None
    relevance: tuple[bool, ...] | None = None


def read_references(
    path: str | Path, *, style: str | None = None, split: str | None = None
) -> dict[str, Reference]:
    """Reads references by id from a file, whose form is detected from its content.

    Known forms: JSON lines with `id` or `query_id` and `answers` (a list, or a mapping from style
    to lists; `question`, `query_type`, `answerable`, `relevance` or `passages[].is_selected` are
    used if present; MS MARCO's reference files and v1.1 are of this form, and so are the examples
    of `tfmrc.data.write_examples`, which lack `answers` where there are none), SQuAD's JSON
    (v1.1, v2.0, adversarial), MS MARCO v2.1's JSON of columns, and NarrativeQA's `qaps.csv`.
    NarrativeQA has no ids: they are `<document>-<number>`, counted from 1 in each document.
    Every form is also read from gzip, with a byte order mark, and as a stream: only the references
    are held in memory, not the passages and paragraphs.

    Args:
        path: str or path. The file.
        style: str or None. The style of the answers. Selects the list of this style from a mapping;
            for MS MARCO `"nlg"` reads `wellFormedAnswers`, anything else `answers`. Default: None.
        split: str or None. NarrativeQA's `set` column (`"train"`, `"valid"`, `"test"`).
            Default: None.

    Raises:
        ValueError: If the form is unknown, a field is missing, an id is repeated, a style is
            needed, or the file has no such style or split.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "references.jsonl"
    >>> _ = path.write_text('{"query_id": 7, "answers": ["the mill", "a mill"]}')
    >>> read_references(path)["7"].answers
    ('the mill', 'a mill')
    """
    references: dict[str, Reference] = {}
    for reference in _records(Path(path), style, split):
        if reference.id in references:
            raise ValueError(f"{path}: an id occurs twice. Received: id={reference.id!r}")
        references[reference.id] = reference
    return references


def _records(path: Path, style: str | None, split: str | None) -> Iterator[Reference]:
    if path.name.removesuffix(".gz").endswith(".csv"):
        if split not in (None, *SPLITS):
            raise ValueError(f"`split` must be one of {SPLITS} or None. Received: split={split!r}")
        return _narrativeqa(path, split)
    if split is not None:
        raise ValueError(
            f"A split (--split) is one of NarrativeQA's qaps.csv; {path} is read as a whole. "
            f"Received: split={split!r}"
        )
    form = form_of(path)
    if form == "squad":
        return _squad(path)
    return _msmarco_columns(path, style) if form == "columns" else _lines(path, style)


def _lines(path: Path, style: str | None) -> Iterator[Reference]:
    styles: dict[str, None] = {}
    for number, record in read_json_lines(path):
        where = f"{path}, line {number}"
        if not isinstance(record, dict):
            raise ValueError(f"{where}: not an object. Received: {record!r}")
        if {"id", "question", "passages"} <= record.keys():
            record = {"answers": {}} | record  # an example, which lacks what it does not have
        key = record.get("id", record.get("query_id"))
        if key is None or "answers" not in record:
            missing = "'id' (or 'query_id')" if key is None else "'answers'"
            raise ValueError(f"{where}: no field {missing}. Received: fields {sorted(record)}")
        if isinstance(record["answers"], dict):
            styles |= dict.fromkeys(record["answers"])
        yield _reference(where, str(key), record, style)
    if style is not None and styles and style not in styles:
        raise ValueError(
            f"{path}: no question has an answer of this style (--style); there are "
            f"{', '.join(styles)}. Received: style={style!r}"
        )


def _reference(where: str, key: str, record: dict[str, Any], style: str | None) -> Reference:
    answers = record["answers"]
    well_formed = record.get("wellFormedAnswers")
    if well_formed == "[]":  # as MS MARCO v2.1 writes an empty list
        well_formed = []
    # It can be answered if it has an answer of any style, as `tfmrc.data` reads it.
    styles = list(answers.values()) if isinstance(answers, dict) else [answers, well_formed]
    if style == "nlg" and isinstance(well_formed, list):
        answers = well_formed
    elif isinstance(answers, dict):
        if style is None and len(answers) > 1:
            raise ValueError(
                f"{where}: the answers have several styles, pass style=... (--style). "
                f"Received: styles {sorted(answers)}"
            )
        answers = answers.get(style or next(iter(answers), ""), [])
    if not isinstance(answers, list) or not all(isinstance(text, str) for text in answers):
        raise ValueError(f"{where}: answers must be a list of strings. Received: {answers!r}")
    relevance = record.get("relevance")
    if relevance is None and isinstance(record.get("passages"), list):
        passages = [passage for passage in record["passages"] if isinstance(passage, dict)]
        if passages and all("is_selected" in passage for passage in passages):
            relevance = [passage["is_selected"] for passage in passages]
    answerable = record.get("answerable")
    if answerable is None and styles:
        answerable = any(
            isinstance(texts, list) and texts and NO_ANSWER not in texts for texts in styles
        )
    return Reference(
        id=key,
        answers=tuple(answers),
        question=str(record.get("question", record.get("query", ""))),
        query_type=str(record.get("query_type") or ""),
        answerable=None if answerable is None else bool(answerable),
        relevance=_labels(relevance),
    )


def _labels(relevance: Any) -> tuple[bool, ...] | None:
    """Returns the labels of the passages; None if one is unknown, which MS MARCO writes as -1."""
    if relevance is None or any(label not in (0, 1) for label in relevance):
        return None
    return tuple(bool(label) for label in relevance)


def _squad(path: Path) -> Iterator[Reference]:
    for question in squad_questions(path):
        if "id" not in question or "answers" not in question:
            raise ValueError(
                f"{path}: a question has no 'id' or 'answers'. Received: fields {sorted(question)}"
            )
        if not isinstance(question["answers"], list):
            raise ValueError(
                f"{path}, id {question['id']!r}: answers must be a list. "
                f"Received: answers={question['answers']!r}"
            )
        answers = tuple(answer["text"] for answer in question["answers"])
        impossible = question.get("is_impossible")
        yield Reference(
            id=str(question["id"]),
            answers=answers,
            question=question.get("question", ""),
            answerable=bool(answers) and not impossible if answers or impossible else None,
        )


def _msmarco_columns(path: Path, style: str | None) -> Iterator[Reference]:
    for row, record in column_records(path):
        where = f"{path}, row {row}"
        if record.get("answers") is None:
            raise ValueError(f"{where}: no answers (an evaluation file has none)")
        yield _reference(where, str(record["query_id"]), record, style)


def _narrativeqa(path: Path, split: str | None) -> Iterator[Reference]:
    """Yields the rows of `qaps.csv`; the id is the document and the question's number in it."""
    counts: Counter[str] = Counter()
    with open_text(path, newline="") as file:
        rows = csv.DictReader(file)
        needed = {"document_id", "set", "question", "answer1", "answer2"}
        absent = sorted(needed - set(rows.fieldnames or ()))
        if absent:
            raise ValueError(
                f"{path}: the only CSV file of references is NarrativeQA's qaps.csv; the others "
                "are JSON lines with `id` and `answers`, SQuAD's JSON and MS MARCO's files. "
                "`tfmrc evaluate MODEL --input FILE` reads a table of one's own, and "
                "`tfmrc.data.write_examples(path, tfmrc.data.read_table(FILE))` writes it as JSON "
                f"lines. Received: no columns {absent}"
            )
        for row in rows:
            if None in row or None in row.values():
                raise ValueError(
                    f"{path}, line {rows.line_num}: a row must have {len(rows.fieldnames or ())} "
                    f"values. Received: {short(list(row.values()))}"
                )
            if split is None or row["set"] == split:
                counts[row["document_id"]] += 1
                answers = tuple(row[name] for name in ("answer1", "answer2") if row[name].strip())
                yield Reference(
                    id=f"{row['document_id']}-{counts[row['document_id']]}",
                    answers=answers,
                    question=row["question"],
                    answerable=True,
                )
