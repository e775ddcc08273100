"""A user's own questions: CSV, TSV, JSON, Parquet, data frames and lists of dicts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from tfmrc.data.example import Example, short
from tfmrc.data.formats.csv_rows import csv_rows
from tfmrc.data.formats.fields import RecordLocation
from tfmrc.data.formats.json_stream import json_records
from tfmrc.data.formats.registry import register_format
from tfmrc.data.formats.rows import BlankAnswers, example_of, plain, whole
from tfmrc.data.formats.sheets import sheet_rows
from tfmrc.data.formats.written_values import written_value
from tfmrc.data.stream import Account, ExampleStream, OnError, RecordError, open_text
from tfmrc.utils.arguments import suggestion
from tfmrc.utils.optional import optional_import
from tfmrc.utils.progress import Progress

# Column names that are recognised for each field, the first one first.
NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "question_id", "query_id", "qid"),
    "question": ("question", "query"),
    "passages": ("passages", "passage", "context", "contexts", "paragraph", "text", "document"),
    "answers": ("answers", "answer"),
    "answer_start": ("answer_start",),
    "spans": ("spans",),
    "answerable": ("answerable",),
    "is_impossible": ("is_impossible",),
    "relevance": ("relevance",),
    "query_type": ("query_type",),
    "group": ("group", "title", "document", "document_id", "article"),
}
PREDICTED = {"question", "answer", "probability", "is_confident", "passage", "start", "end"}
"""The columns by which a table of `tfmrc predict` is known."""
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")
EXAMPLE = '{"question": "Who flew?", "passage": "An owl flew.", "answer": "An owl"}'

WRITTEN = ("passages", "answers", "answer_start", "spans", "relevance")  # may be texts of lists
SAVE_FRAME = "write a frame with lists by frame.to_json(path, orient='records', lines=True)"


def _are_texts(value: object) -> bool:
    """Returns True for a list of texts; one of other values among them is an error later."""
    return isinstance(value, list) and (not value or any(isinstance(v, str) for v in value))


def _is_written(field: str, value: object) -> bool:
    """Returns True for a list or dict that a cell of the field may hold as text."""
    if field == "passages":
        return bool(value) and _are_texts(value)
    if field not in ("answers", "styles"):
        return isinstance(value, list)
    if isinstance(value, Mapping):  # as Hugging Face has them, or a list per style
        return "text" in value or all(map(_are_texts, value.values()))
    is_labelled = isinstance(value, list) and all(
        isinstance(v, Mapping) and "text" in v for v in value
    )
    return is_labelled or _are_texts(value)


Rows = Iterator[tuple[RecordLocation, Mapping[str, Any]]]
Fields = dict[str, Any]
Columns = Mapping[str, str | list[str] | tuple[str, ...] | Mapping[str, str]]


@register_format("table", one_style=False)
def read_table(
    source: Any,
    *,
    columns: Columns | None = None,
    style: str = "span",
    on_error: OnError = "raise",
    blank_answers: BlankAnswers | None = None,
    columns_optional: bool = False,
) -> ExampleStream:
    """Reads a table of questions, one row per question.

    The suffix of a file gives its format: `.csv`, `.tsv`, `.json` (a list of objects, also below
    `data`, one object per line, or an object of columns), `.jsonl`, `.ndjson`, `.xlsx` (the first
    sheet, as the texts that it shows; needs openpyxl) or `.parquet` (needs pyarrow). Text files
    may be gzipped (`.csv.gz`). Text files are read row by row, Parquet files in batches. If the
    header of a `.csv` file has no comma, its values are separated by the semicolons or tabs of the
    header. Between tabs, a quotation mark that encloses no value is text. Names of columns are
    recognised in capitals, too; rows in which nothing stands are left out.

    Fields of a row, which in JSON may differ from row to row:

    - `question`: text; also the column `query`.
    - `passages`: a text or a list of texts; also `passage`, `context`, `paragraph`, `text`,
      `document`.
    - `answers`: a text, a list of texts, `{"text": [...], "answer_start": [...]}` as in Hugging
      Face's SQuAD, a list of objects with `text` and `start` as in Label Studio, or a list of texts
      per style. This and all following fields are optional.
    - `answer_start`: first character of each answer in the only passage. Without it the answer's
      position is unknown; `with_exact_spans`, or `spans: exact` in a recipe, finds it. An answer
      that is not there, but once in the passage, is located and counted.
    - `answerable`: true or false, or `is_impossible`, its opposite as in SQuAD 2.0. By default a
      question with an answer is answerable, a question with an empty list of answers is not, and
      for a blank cell it is unknown.
    - `relevance`: true or false per passage; with a column per passage, those of blank passages
      are left out, too.
    - `group`: the document, which a split keeps in one part; also `title`, `document`
      beside a passage, `document_id`, `article`.
    - `id`: a text or a number; by default file and row (`questions.csv:2`), as errors name it, or
      the number of the row if there is no file.

    A list or dict may be written in a cell as text, in JSON or as pandas' `to_csv` writes it
    (`['An owl']`, `{'text': ['An owl'], 'answer_start': [0]}`). An answer that occurs so in a
    passage, or has another form (`[sic] an owl`), is a text. A whole number is an answer, too.

    Args:
        source: str, path, data frame (pandas), `datasets.Dataset`, or list of dicts. The table.
        columns: dict from field to column, for columns with other names; a list of columns if each
            passage or answer has its own column. Default: None.
        style: str. Answer style. Default: "span".
        on_error: str. `"raise"` raises a `RecordError` at a broken row; `"skip"` counts the row and
            continues. Default: `"raise"`.
        blank_answers: str or None. Whether a question with a blank answer is `"unknown"`, or has
            `"none"`. Default: unknown; in a table that `tfmrc predict` wrote, none.
        columns_optional: bool. If True, a column of `columns` that the table does not have is left
            out, and its field is found by the recognised names. Default: False.

    Returns:
        A stream of examples that can be read any number of times.

    Raises:
        ValueError: The suffix of the file is unknown, or `columns` has a field that does not exist.
        RecordError: While reading: a column or value is missing or has a wrong type, an answer is
            neither at `answer_start` nor once in the passage, an id occurs twice, or the file is
            damaged.
        ImportError: pyarrow or openpyxl is not installed.

    Example:

    >>> rows = [{"Frage": "Who flew?", "context": "An owl flew.", "answer": "An owl"}]
    >>> [example] = read_table(rows, columns={"question": "Frage"})
    >>> example.question, example.passages, example.answers
    ('Who flew?', ('An owl flew.',), {'span': ('An owl',)})
    """
    columns = _checked(columns or {})
    is_file = isinstance(source, str | PathLike)

    def read(account: Account) -> Iterator[Example]:
        names: list[str] | None = None
        fields: Fields = {}
        for number, (location, row) in enumerate(_rows(source, account, columns), 1):
            if not is_file:
                location.place = location.id = str(number)
            try:
                if not isinstance(row, Mapping):
                    wanted = f"a row is an object such as {EXAMPLE}"
                    raise location.error(f"{wanted}. Received: {short(row)}")
                if all(plain(cell) is None for cell in row.values()):
                    continue  # spreadsheets write blank rows
                if list(row) != names:  # rows of JSON may leave columns out
                    fields = _fields(row, columns, location, columns_optional, names is None)
                    names = list(row)
                location.cells = row
                values, blank = _canonical(row, fields, location), blank_answers or "unknown"
                if PREDICTED <= row.keys() and "answers" not in columns:
                    if plain(row.get("error")) is not None:
                        account.left_out["not answered by `tfmrc predict`"] += 1
                        continue
                    values["answer_start"] = _predicted_start(row, values)
                    blank = blank_answers or "none"
                example = example_of(values, location, account, style, blank)
            except RecordError as error:
                if names is None:  # the first row: the table has another form
                    raise
                account.error(error)
                continue
            account.location = location
            yield example
        if names is None and not account.skipped:
            raise RecordError("contains no row", path=str(source), record="file")

    return ExampleStream(read, on_error)


def _checked(columns: Columns) -> Fields:
    columns = {f: list(c) if isinstance(c, tuple) else c for f, c in columns.items()}
    for field in columns:
        if field not in NAMES:
            raise ValueError(
                f"The fields of a table are {', '.join(NAMES)}"
                + suggestion(field, list(NAMES))
                + f" Received: columns={columns!r}"
            )
    return columns


def is_table(path: str | PathLike[str]) -> bool:
    """Returns True if a file has the suffix of a table.

    Example:

    >>> is_table("questions.csv.gz"), is_table("questions.txt")
    (True, False)
    """
    return _suffix(path) in SUFFIXES


def _suffix(path: str | PathLike[str]) -> str:
    return Path(str(path).removesuffix(".gz")).suffix.lower()


def _rows(source: Any, account: Account, columns: Columns) -> Rows:
    if not isinstance(source, str | PathLike):
        rows = source.to_dict("records") if hasattr(source, "iloc") else source
        name = f"<{type(source).__name__}>"
        return ((RecordLocation(name, f"row {number}"), row) for number, row in enumerate(rows, 1))
    suffix = _suffix(source)
    if suffix not in SUFFIXES:
        raise ValueError(
            f"The name of a table ends in one of {', '.join(SUFFIXES)} (text forms also with "
            f".gz). Received: {str(source)!r}"
        )
    openers = {".parquet": _parquet, ".xlsx": _excel, ".csv": _csv, ".tsv": _csv}
    return openers.get(suffix, _json)(source, account, columns)


def _csv(path: str | PathLike[str], account: Account, columns: Columns) -> Rows:
    with open_text(path, newline="") as file:
        header = next(file, "")
        delimiter = "\t" if _suffix(path) == ".tsv" else _delimiter(header.rstrip("\r\n"))
        yield from csv_rows(chain([header], file), path, (), account, delimiter=delimiter)


def _delimiter(header: str) -> str:
    """Returns the character between the values of a CSV file, as its header shows it."""
    if re.fullmatch(r"sep=[\x01-\x7f]", header):  # a line for Excel
        return header[-1]
    return next((mark for mark in ",;\t" if mark in header), ",")


def _json(path: str | PathLike[str], account: Account, columns: Columns) -> Rows:
    question = (*NAMES["question"], *_names(columns.get("question")))
    return json_records(path, account, "row", question)


def _excel(path: str | PathLike[str], account: Account, columns: Columns) -> Rows:
    return sheet_rows(path)


def field_columns(
    path: str | PathLike[str],
    columns: Columns,
    columns_optional: bool = False,
    needed: Sequence[str] = ("passages",),
) -> Fields:
    """Returns the column of each field that the first row of a table has.

    Args:
        path: str or path. The file.
        columns, columns_optional: As of `read_table`.
        needed: sequence of str. The fields without which it is an error. Default: ("passages",).
    """
    location, row = next(_rows(path, Account(), columns), (RecordLocation(path, "file"), {}))
    return _fields(row, columns, location, columns_optional, True, needed)


def _parquet(path: str | PathLike[str], account: Account, columns: Columns) -> Rows:
    with optional_import("tfmrc[parquet]"):
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    number = 0
    try:
        # Buffers that are read in advance would stay until the end of the file.
        with ParquetFile(path, pre_buffer=False) as file:
            progress = Progress(f"reading {path}", file.metadata.num_rows, "rows")
            for batch in file.iter_batches(1024):
                progress.update(number)
                for row in batch.to_pylist():
                    number += 1
                    yield RecordLocation(path, f"row {number}", number), row
    except ArrowException as error:
        raise RecordError(
            f"not a Parquet file, or damaged ({str(error).splitlines()[0]})",
            path=path,
            record=f"after row {number}",
        ) from error


def _names(wanted: Any) -> list[str]:
    """Returns the names of a field's column or columns."""
    if wanted is None:
        return []
    if isinstance(wanted, Mapping):
        return list(wanted.values())
    return [wanted] if isinstance(wanted, str) else list(wanted)


def _fields(
    row: Mapping[str, Any],
    columns: Columns,
    location: RecordLocation,
    columns_optional: bool,
    is_first: bool,
    needed: Sequence[str] = ("question", "passages"),
) -> Fields:
    """Returns the column or columns of each field in rows with the columns of this one.

    The first row has all columns that are asked for; those that a later one lacks are blank.
    """
    names = list(row)
    if is_first:
        location = RecordLocation(location.path, "columns")
    # Spreadsheets add capitals and spaces to the names.
    alike = {str(name).strip().lower(): name for name in reversed(names)}
    result: Fields = {}
    for field, known in NAMES.items():
        absent = [name for name in _names(columns.get(field)) if name not in row]
        taken = _names(result.get("passages"))  # a `document` is a text, or the name of one
        present = [name if name in row else alike[name] for name in known if name in alike]
        present = [name for name in present if name not in taken]
        if absent and is_first and not columns_optional:
            raise location.error(
                f"the table has no column {short(absent[0])}"
                + suggestion(absent[0], names)
                + f" Received: {', '.join(map(short, names))}"
            )
        if field in columns and not (columns_optional and absent):
            result[field] = columns[field]
        elif present:
            result[field] = present[0]
    for field in needed:
        if field not in result:
            raise location.error(
                f"the table has no column {' or '.join(NAMES[field][:3])} (it has "
                f"{', '.join(map(str, names))}). Add `--columns {field}=NAME`, in Python "
                f"columns={{{field!r}: NAME}}"
            )
    return result


def _canonical(row: Mapping[str, Any], fields: Fields, location: RecordLocation) -> dict[str, Any]:
    """Returns the cells of a row by field, as plain values; see `rows.example_of`."""
    location.columns = {field: ", ".join(_names(column)) for field, column in fields.items()}
    result: dict[str, Any] = {}
    for field, column in fields.items():
        if isinstance(column, str):
            cell = plain(row.get(column))
            result[field] = _written(cell, field, result, location)
        elif isinstance(column, list):
            cells = [cell for name in column if (cell := plain(row.get(name))) is not None]
            result[field] = cells or None
        else:
            result["styles"] = {
                style: _written(cell, field, result, location)
                for style, name in column.items()
                if (cell := plain(row.get(name))) is not None
            }
    passages, flags = fields["passages"], fields.get("relevance")
    if isinstance(passages, list) and isinstance(flags, list) and len(passages) == len(flags):
        # A flag belongs to the passage beside it, and to none if that is blank.
        pairs = zip(passages, flags, strict=True)
        values = [plain(row.get(flag)) for name, flag in pairs if plain(row.get(name)) is not None]
        result["relevance"] = values if any(value is not None for value in values) else None
    return result


def _predicted_start(row: Mapping[str, Any], values: Mapping[str, Any]) -> int | None:
    """Returns where `tfmrc predict` found the answer; None if it was corrected since."""
    answer, passage, start = values.get("answers"), values.get("passages"), whole(row["start"])
    if start is None or not isinstance(answer, str) or not isinstance(passage, str):
        return None
    return start if passage.startswith(answer, start) else None


def _written(cell: Any, field: str, row: Mapping[str, Any], location: RecordLocation) -> Any:
    """Returns the list or dict that a cell holds as text, or the error of a damaged one."""
    if not isinstance(cell, str) or field not in WRITTEN:
        return cell
    error = None
    try:
        value = written_value(cell)
    except ValueError as reason:
        error = location.error(f"{reason}; {SAVE_FRAME}. Received: {short(cell)}", field)
    passages = row["passages"] if isinstance(row.get("passages"), list) else [row.get("passages")]
    if field == "answers" and any(isinstance(p, str) and cell in p for p in passages):
        return cell
    if error is not None:
        return error
    return value if _is_written(field, value) else cell
