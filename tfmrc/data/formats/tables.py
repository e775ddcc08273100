"""A user's own questions: CSV, TSV, JSON, Parquet, data frames and lists of dicts."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

from tfmrc.data.example import Example, Span, short
from tfmrc.data.formats.csv_rows import csv_rows
from tfmrc.data.formats.fields import RecordLocation
from tfmrc.data.formats.json_stream import json_items, json_lines
from tfmrc.data.formats.registry import register_format
from tfmrc.data.formats.written_values import written_value
from tfmrc.data.stream import ExampleStream, OnError, RecordError, Report, open_binary, open_text
from tfmrc.utils.arguments import suggestion

# Column names that are recognised for each field, the first one first.
NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "question_id", "query_id", "qid"),
    "question": ("question", "query"),
    "passages": ("passages", "passage", "context", "contexts", "paragraph", "document", "text"),
    "answers": ("answers", "answer"),
    "answer_start": ("answer_start",),
    "spans": ("spans",),
    "answerable": ("answerable",),
    "is_impossible": ("is_impossible",),
    "relevance": ("relevance",),
    "query_type": ("query_type",),
    "group": ("group", "title", "document_id", "article"),
}
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
EXAMPLE = '{"question": "Who flew?", "passage": "An owl flew.", "answer": "An owl"}'

SAVE_FRAME = "write a frame with lists by frame.to_json(path, orient='records', lines=True)"
READ_FRAME = "pandas.read_csv(path, dtype=str) reads numbers as texts"

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _are_texts(value: Any) -> bool:
    """Returns True for a list of texts; one of other values among them is an error later."""
    return isinstance(value, list) and (not value or any(isinstance(v, str) for v in value))


def _are_answers(value: Any) -> bool:
    """Returns True for a list of texts, Hugging Face's dict of texts, and a dict of styles."""
    if isinstance(value, Mapping) and "text" not in value:
        return all(map(_are_texts, value.values()))
    return isinstance(value, Mapping) or _are_texts(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


# The fields whose cells may hold a list or dict as text, and the values that are read so.
_WRITTEN: dict[str, Callable[[Any], bool]] = {
    "passages": lambda value: bool(value) and _are_texts(value),
    "answers": _are_answers,
    "answer_start": _is_list,
    "spans": _is_list,
    "relevance": _is_list,
}

Rows = Iterator[tuple[RecordLocation, Mapping[str, Any]]]
Columns = Mapping[str, str | list[str] | tuple[str, ...] | Mapping[str, str]]


@register_format("table", one_style=False)
def read_table(
    source: Any,
    *,
    columns: Columns | None = None,
    style: str = "span",
    on_error: OnError = "raise",
    columns_optional: bool = False,
) -> ExampleStream:
    """Reads a table of questions, one row per question.

    The suffix of a file gives its format: `.csv`, `.tsv`, `.json` (a list of objects, or one object
    per line), `.jsonl`, `.ndjson` or `.parquet` (needs pyarrow). Text files may be gzipped
    (`.csv.gz`). Text files are read row by row, Parquet files in batches. If the header of a `.csv`
    file has no comma, its values are separated by the semicolons or tabs of the header. Names of
    columns are recognised in capitals, too; blank rows of a `.csv` file are left out.

    Fields of a row, which in JSON may differ from row to row:

    - `question`: text; also the column `query`.
    - `passages`: a text or a list of texts; also `passage`, `context`, `paragraph`, `document`,
      `text`.
    - `answers`: a text, a list of texts, `{"text": [...], "answer_start": [...]}` as in Hugging
      Face's SQuAD, or a list of texts per style. This and all following fields are optional.
    - `answer_start`: first character of each answer in the only passage. Without it the answer's
      position is unknown; `with_exact_spans`, or `spans: exact` in a recipe, finds it.
    - `answerable`: true or false, or `is_impossible`, its opposite as in SQuAD 2.0. By default a
      question with an answer is answerable, a question with an empty list of answers is not, and
      for a blank cell it is unknown.
    - `relevance`: true or false per passage; with a column per passage, those of blank passages
      are left out, too.
    - `group`: the document, which a split keeps in one part; also `title`, `document_id`,
      `article`.
    - `id`: by default the number of the row.

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
        columns_optional: bool. If True, a column of `columns` that the table does not have is left
            out, and its field is found by the recognised names. Default: False.

    Returns:
        A stream of examples that can be read any number of times.

    Raises:
        TypeError: `source` has an unsupported type.
        ValueError: The suffix of the file is unknown, or `columns` has a field that does not exist.
        RecordError: While reading: a column or value is missing or has a wrong type, an answer does
            not occur at `answer_start`, an id occurs twice, or the file is damaged.
        ImportError: pyarrow is not installed.

    Example:

    >>> rows = [{"Frage": "Who flew?", "context": "An owl flew.", "answer": "An owl"}]
    >>> [example] = read_table(rows, columns={"question": "Frage"})
    >>> example.question, example.passages, example.answers
    ('Who flew?', ('An owl flew.',), {'span': ('An owl',)})
    """
    columns = dict(columns or {})
    for field in columns:
        if field not in NAMES:
            raise ValueError(
                f"The fields of a table are {', '.join(NAMES)}"
                + suggestion(field, list(NAMES))
                + f" Received: columns={columns!r}"
            )
        if isinstance(columns[field], Mapping) and field != "answers":
            raise ValueError(
                f"Only `answers` has a column per style. Received: columns={columns!r}"
            )
    rows = _opener(source)
    has_header = isinstance(source, str | PathLike) and _suffix(source) in (".csv", ".tsv")
    known = {name for names in NAMES.values() for name in names}
    known.update(_normalized(name) for wanted in columns.values() for name in _names(wanted))

    def read(report: Report) -> Iterator[Example]:
        number = 0
        # Rows of JSON may leave columns out, so each set of columns has its own fields.
        tables: dict[frozenset[str], _Table] = {}
        with rows(report) as given:
            for number, (location, row) in enumerate(given, 1):
                try:
                    _check_row(row, location)
                    present = frozenset(name for name in row if _normalized(name) in known)
                    if present not in tables:
                        at = RecordLocation(source, "header") if has_header else location
                        fields = _fields(row, columns, at, columns_optional, number == 1)
                        tables[present] = _Table(fields, style)
                    example = tables[present].example(row, number, location)
                except RecordError as error:
                    if not tables:  # the first row: the table has another form
                        raise
                    report.error(error)
                    continue
                report.location = location
                yield example
        if not number and not report.skipped:
            raise RecordError("contains no row", path=_name(source), record="file")

    return ExampleStream(read, on_error)


def is_table(path: str | PathLike[str]) -> bool:
    """Returns True if a file has the suffix of a table.

    Example:

    >>> is_table("questions.csv.gz"), is_table("questions.txt")
    (True, False)
    """
    return _suffix(path) in SUFFIXES


def _suffix(path: str | PathLike[str]) -> str:
    return Path(str(path).removesuffix(".gz")).suffix.lower()


def _name(source: Any) -> str:
    if isinstance(source, str | PathLike):
        return str(source)
    return f"<{type(source).__name__}>"


def _opener(source: Any) -> Any:
    """Returns a function from a report to a context manager of the table's rows."""
    if isinstance(source, str | PathLike):
        suffix = _suffix(source)
        if suffix not in SUFFIXES:
            raise ValueError(
                f"The name of a table ends in one of {', '.join(SUFFIXES)} (text forms also with "
                f".gz). Received: {str(source)!r}"
            )
        opener = _parquet if suffix == ".parquet" else _json if "son" in suffix else _csv
        return lambda report: opener(source, report)
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        return lambda report: _frame(source)
    if isinstance(source, Mapping) and any(hasattr(s, "column_names") for s in source.values()):
        raise TypeError(
            "A table is one split of a `datasets.DatasetDict`. Received: a dict of the splits "
            f"{', '.join(map(str, source))}; pass one of them, such as table[{[*source][0]!r}]"
        )
    is_rows = hasattr(source, "column_names") or isinstance(source, list | tuple)
    if not is_rows or isinstance(source, Mapping):
        raise TypeError(
            "A table is a path, a pandas data frame, a `datasets.Dataset`, or a list of dicts such "
            f"as {EXAMPLE}. Received: {short(source)} ({type(source).__name__})"
        )
    return lambda report: _dicts(source)


@contextmanager
def _csv(path: Any, report: Report) -> Iterator[Rows]:
    with open_text(path, newline="") as file:
        header = next(file, "")
        delimiter = "\t" if _suffix(path) == ".tsv" else _delimiter(header.rstrip("\r\n"))
        rows = csv_rows(chain([header], file), path, (), report, delimiter=delimiter)
        yield (
            (location, row)
            for location, row in rows
            if any(value.strip() for value in row.values())  # spreadsheets write blank rows
        )


def _delimiter(header: str) -> str:
    """Returns the character between the values of a CSV file, as its header shows it."""
    if re.fullmatch(r"sep=[\x01-\x7f]", header):  # a line for Excel
        return header[-1]
    if "," not in header:
        return next((mark for mark in ";\t" if mark in header), ",")
    return ","


@contextmanager
def _json(path: Any, report: Report) -> Iterator[Rows]:
    with open_binary(path) as file:
        start = b""
        while not start.strip() and (more := file.peek(1 << 12)[len(start) :]):  # type: ignore[attr-defined]
            start += more
        if start.lstrip()[:1] != b"[":
            yield json_lines(file, path, report)
            return
        items = json_items(file, path, None, "row")
        yield ((RecordLocation(path, f"row {number}"), row) for number, row in items)


@contextmanager
def _parquet(path: Any, report: Report) -> Iterator[Rows]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install tfmrc[parquet]") from error

    def rows() -> Rows:
        number = 0
        try:
            with ParquetFile(path) as file:
                for batch in file.iter_batches(1024):
                    for row in batch.to_pylist():
                        number += 1
                        yield RecordLocation(path, f"row {number}"), row
        except ArrowException as error:
            raise RecordError(
                f"the file is no Parquet, or damaged ({str(error).splitlines()[0]})",
                path=path,
                record=f"after row {number}",
            ) from error

    yield rows()


@contextmanager
def _frame(frame: Any) -> Iterator[Rows]:
    names = [str(name) for name in frame.columns]
    values = zip(*(frame.iloc[:, index] for index in range(len(names))), strict=True)
    yield (
        (RecordLocation(_name(frame), f"row {number}"), dict(zip(names, row, strict=True)))
        for number, row in enumerate(values, 1)
    )


@contextmanager
def _dicts(rows: Iterable[Any]) -> Iterator[Rows]:
    yield (
        (RecordLocation(_name(rows), f"row {number}"), row) for number, row in enumerate(rows, 1)
    )


def _normalized(name: Any) -> str:
    """Returns the name of a column without the capitals and spaces of spreadsheets."""
    return str(name).strip().lower()


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
) -> dict[str, str | list[str] | dict[str, str]]:
    """Returns the column or columns of each field in rows with the columns of this one.

    The first row has all columns that are asked for; in a later one those that are missing are
    blank.
    """
    names = list(row)
    alike = {_normalized(name): name for name in reversed(names)}
    result: dict[str, str | list[str] | dict[str, str]] = {}
    for field, known in NAMES.items():
        wanted = columns.get(field)
        names_wanted = _names(wanted)
        if wanted is not None and not (columns_optional and set(names_wanted) - set(row)):
            for name in names_wanted:
                if is_first and name not in row:
                    raise location.error(
                        "the table has no such column"
                        + suggestion(str(name), names)
                        + f" Received: {', '.join(map(short, names))}",
                        str(name),
                    )
            if isinstance(wanted, Mapping):
                result[field] = dict(wanted)
            else:
                result[field] = wanted if isinstance(wanted, str) else names_wanted
            continue
        present = [name if name in row else alike[name] for name in known if name in alike]
        if present:
            result[field] = present[0]
    for field in ("question", "passages"):
        if field not in result:
            raise location.error(
                f"expected a column {' or '.join(NAMES[field][:3])}; another one is named by "
                f"columns={{{field!r}: ...}}, in a command by --columns {field}=... "
                f"Received: {', '.join(map(short, names))}; for example {EXAMPLE}",
                field,
            )
    return result


def _check_row(row: Any, location: RecordLocation) -> None:
    if not isinstance(row, Mapping):
        raise location.error(f"a row is an object such as {EXAMPLE}. Received: {short(row)}")


@dataclass(frozen=True)
class _Table:
    """The columns of a table's fields and its answer style."""

    columns: Mapping[str, str | list[str] | dict[str, str]]
    style: str

    def example(self, row: Any, number: int, location: RecordLocation) -> Example:
        """Returns the example of a row.

        Raises:
            RecordError: A value is missing or of the wrong type, or values contradict each other.
        """
        row = self._with_written_values(row, location)
        question = self._text(row, "question", location)
        passages = self._passages(row, location)
        answers, starts = self._answers(row, location)
        spans = self._spans(row, passages, answers.get(self.style, ()), starts, location)
        answerable = self._answerable(row, answers, location)
        relevance = self._relevance(row, location)
        name = self._value(row, "id")
        optional = {
            field: None if value is None else str(value)
            for field in ("query_type", "group")
            for value in [self._value(row, field)]
        }
        return location.example(
            id=str(number if name is None else name),
            question=question,
            passages=passages,
            answers=answers,
            answerable=answerable,
            relevance=relevance,
            spans=spans,
            **optional,
        )

    def _value(self, row: Mapping[str, Any], field: str) -> Any:
        """Returns the cell of a field; None if it is blank or the column is missing."""
        column = self.columns.get(field)
        if column is None:
            return None
        if isinstance(column, list):
            cells = [_plain(row.get(name)) for name in column]
            return [cell for cell in cells if cell is not None]
        if isinstance(column, dict):
            by_style = {style: _plain(row.get(name)) for style, name in column.items()}
            return {style: cell for style, cell in by_style.items() if cell is not None} or None
        return _plain(row.get(column))

    def _with_written_values(
        self, row: Mapping[str, Any], location: RecordLocation
    ) -> Mapping[str, Any]:
        """Returns the row with the lists and dicts that its cells hold as text."""
        values: dict[str, Any] = {}
        for field, fits in _WRITTEN.items():  # passages before the answers that they may contain
            column = self.columns.get(field)
            for name in [] if isinstance(column, list) else _names(column):
                cell = row.get(name)
                if not isinstance(cell, str):
                    continue
                try:
                    value = written_value(cell)
                except ValueError as error:
                    value = error
                if value is cell or not (isinstance(value, ValueError) or fits(value)):
                    continue
                if field == "answers" and self._is_in_passage({**row, **values}, cell):
                    continue
                if isinstance(value, ValueError):
                    raise location.error(f"{value}; {SAVE_FRAME}. Received: {short(cell)}", name)
                values[name] = value
        return {**row, **values} if values else row

    def _is_in_passage(self, row: Mapping[str, Any], text: str) -> bool:
        passages = self._value(row, "passages")
        passages = passages if isinstance(passages, list) else [passages]
        return any(text in passage for passage in passages if isinstance(passage, str))

    def _text(self, row: Mapping[str, Any], field: str, location: RecordLocation) -> str:
        value = self._value(row, field)
        if not isinstance(value, str):
            shown = "nothing" if value is None else short(value)
            raise location.error(f"must be text. Received: {shown}", self._column(field))
        return value

    def _column(self, field: str) -> str:
        column = self.columns[field]
        names = column.values() if isinstance(column, dict) else column
        return column if isinstance(column, str) else ", ".join(names)

    def _texts(self, value: Any, field: str, location: RecordLocation) -> tuple[str, ...]:
        values = value if isinstance(value, list) else [value]
        if field == "answers":
            values = [str(text) if _is_whole(text) else text for text in values]
            if any(isinstance(text, float) for text in values):
                raise location.error(
                    "must be a text or a list of texts, and a number with a point is none; "
                    f"{READ_FRAME}. Received: {short(value)}",
                    self._column(field),
                )
        if not all(isinstance(text, str) for text in values):
            raise location.error(
                f"must be a text or a list of texts. Received: {short(value)}", self._column(field)
            )
        return tuple(values)

    def _passages(self, row: Mapping[str, Any], location: RecordLocation) -> tuple[str, ...]:
        value = self._value(row, "passages")
        if value is None or value == []:
            raise location.error("must have a passage. Received: nothing", self._column("passages"))
        return self._texts(value, "passages", location)

    def _answers(
        self, row: Mapping[str, Any], location: RecordLocation
    ) -> tuple[dict[str, tuple[str, ...]], list[int]]:
        value = self._value(row, "answers")
        starts = self._value(row, "answer_start")
        per_style = isinstance(self.columns.get("answers"), dict)
        if isinstance(value, Mapping):
            value = {name: _plain(cell) for name, cell in value.items()}
            if "text" in value and not per_style:
                starts = value.get("answer_start", starts)
                value = value["text"]
        if isinstance(value, Mapping):  # a list per style
            styles = {str(style): self._texts(v, "answers", location) for style, v in value.items()}
        else:
            texts = () if value is None else self._texts(value, "answers", location)
            styles = {self.style: tuple(text for text in texts if text.strip())}
        numbers = [] if starts is None else starts if isinstance(starts, list) else [starts]
        try:
            positions = [_whole(start) for start in numbers]
        except (TypeError, ValueError, OverflowError):
            raise location.error(
                f"must be a number, or a number per answer. Received: {short(starts)}",
                "answer_start",
            ) from None
        return {style: texts for style, texts in styles.items() if texts}, positions

    def _spans(
        self,
        row: Mapping[str, Any],
        passages: tuple[str, ...],
        answers: tuple[str, ...],
        starts: list[int],
        location: RecordLocation,
    ) -> tuple[Span, ...]:
        spans = self._value(row, "spans")
        try:
            if spans is not None:
                return tuple(Span(*span) for span in spans)
        except (TypeError, ValueError) as error:
            raise location.error(
                f"a span is [passage, start, end]. Received: {short(spans)}", "spans"
            ) from error
        if not any(start >= 0 for start in starts):
            return ()
        if len(starts) != len(answers) or len(passages) != 1:
            raise location.error(
                "needs a number per answer, and a single passage. Received: "
                f"{len(starts)} numbers, {len(answers)} answers, {len(passages)} passages",
                "answer_start",
            )
        result = []
        for text, start in zip(answers, starts, strict=True):
            if start < 0:
                continue
            there = passages[0][start : start + len(text)]
            if there != text:
                raise location.error(
                    f"the passage has {short(there)} there, not the answer. "
                    f"Received: answer_start={start}, answer={short(text)}",
                    "answer_start",
                )
            result.append(Span(0, start, start + len(text)))
        return tuple(result)

    def _answerable(
        self, row: Mapping[str, Any], answers: Mapping[str, Any], location: RecordLocation
    ) -> bool | None:
        flags = {
            self._flag(value, field, location) == (field == "answerable")
            for field in ("answerable", "is_impossible")
            for value in [self._value(row, field)]
            if value is not None
        }
        if len(flags) == 2:
            raise location.error("contradicts `is_impossible`", self._column("answerable"))
        if flags:
            return flags.pop()
        if answers:
            return True
        cell = self._value(row, "answers")
        if isinstance(cell, Mapping) and "text" in cell:
            cell = _plain(cell["text"])
        is_empty = isinstance(cell, list) and not isinstance(self.columns.get("answers"), list)
        return False if is_empty and not cell else None

    def _relevance(
        self, row: Mapping[str, Any], location: RecordLocation
    ) -> tuple[bool, ...] | None:
        passages, flags = self.columns["passages"], self.columns.get("relevance")
        if isinstance(passages, list) and isinstance(flags, list) and len(passages) == len(flags):
            # A flag belongs to the passage beside it, and to none if that is blank.
            pairs = zip(passages, flags, strict=True)
            values = [row.get(flag) for name, flag in pairs if _plain(row.get(name)) is not None]
            if all(_plain(flag) is None for flag in values):
                return None
        else:
            value = self._value(row, "relevance")
            if value is None:
                return None
            values = value if isinstance(value, list) else [value]
        return tuple(self._flag(flag, "relevance", location) for flag in values)

    def _flag(self, value: Any, field: str, location: RecordLocation) -> bool:
        """True and false, also as 1 and 0 or as a CSV file writes them."""
        result = _FLAGS.get(str(value).strip().lower().removesuffix(".0"))
        if result is None:
            raise location.error(
                f"must be true or false. Received: {short(value)}", self._column(field)
            )
        return result


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _whole(value: Any) -> int:
    """A whole number, also as 3.0 or "3.0": frames with blank cells hold and write floats."""
    number = float(value)
    if isinstance(value, bool) or not number.is_integer():
        raise ValueError(value)
    return int(number)


def _plain(value: Any) -> Any:
    """A cell as plain Python; None for a blank one and for the NaN of data frames."""
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if type(value).__name__ == "NAType" or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, str) and not value.strip():
        return None
    return list(value) if isinstance(value, tuple) else value
