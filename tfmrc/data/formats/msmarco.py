"""MS MARCO QA: the columnar file of v2.1, its line form, and v1.1."""

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import ijson

from tfmrc.data.example import Example
from tfmrc.data.formats.fields import Place, short
from tfmrc.data.formats.json_columns import json_rows
from tfmrc.data.formats.json_stream import json_lines
from tfmrc.data.stream import ExampleStream, OnError, RecordError, Report, open_binary

Subset = Literal["ALL", "ANS", "NLG"]
SUBSETS = ("ALL", "ANS", "NLG")
STYLES = ("qa", "nlg")
NO_ANSWER = "No Answer Present."

_LEADER = "passages"
_COLUMNS = ("query", "query_id", "query_type", "answers", "wellFormedAnswers")


def read_msmarco(
    path: str | PathLike,
    *,
    subset: Subset = "ALL",
    styles: tuple[str, ...] = STYLES,
    on_error: OnError = "raise",
) -> ExampleStream:
    """Read an MS MARCO QA file: each query with its passages, in the order of the search engine.

    Finds out by itself whether the file is one object of columns (v2.1 as it is offered) or one
    object a line (v2.1's line form, v1.1); ``.gz`` is read as it is. Neither is held in memory.
    ``answers`` gives style ``"qa"``, ``wellFormedAnswers`` style ``"nlg"``. A query is answerable
    if it has an answer in either; an empty list of answers (v1.1) and "No Answer Present." (v2.1)
    say that it is not. The evaluation file, which has no answers, gives ``answerable=None``.

    Blank answers are left out and noted in the report; a query whose answers are all blank has
    ``answerable=None``. Blank passages are kept, so that a passage's number is its rank, and
    noted.

    Args:
        path: the file.
        subset: ``"ALL"`` queries, the answerable ones (``"ANS"``), or those with a well-formed
            answer (``"NLG"``).
        styles: the answers to keep; the subset does not depend on it.
        on_error: ``"raise"`` a ``RecordError`` at a broken record, or ``"skip"`` and count it.

    Returns:
        A stream of examples; ``query_type`` is set, ``group`` is not.

    Raises:
        ValueError: if there is no such subset or style.
        RecordError: while reading: a field is missing or has a wrong type, the query is blank,
            there is no passage, the file is cut short or no JSON.

    Example:

    >>> import json, pathlib, tempfile
    >>> rows = {
    ...     "query_id": {"0": 7},
    ...     "query": {"0": "who flew"},
    ...     "query_type": {"0": "PERSON"},
    ...     "passages": {"0": [{"is_selected": 1, "passage_text": "An owl flew.", "url": ""}]},
    ...     "answers": {"0": ["An owl"]},
    ...     "wellFormedAnswers": {"0": ["An owl flew."]},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "marco.json")
    ...     _ = path.write_text(json.dumps(rows))
    ...     [example] = read_msmarco(path, subset="NLG")
    >>> example.answers
    {'qa': ('An owl',), 'nlg': ('An owl flew.',)}

    Reference: Bajaj et al. 2016; the subsets are those of masque, table 1.
    """
    if subset not in SUBSETS:
        raise ValueError(f"subset is one of {SUBSETS}. Received: subset={subset!r}")
    if isinstance(styles, str) or not set(styles) <= set(STYLES):
        raise ValueError(f"styles are some of {STYLES}. Received: styles={styles!r}")

    def read(report: Report) -> Iterator[Example]:
        result = False
        records = _columns(path, report) if _is_columnar(path) else _lines(path, report)
        for place, record in records:
            result = True
            try:
                example = _example(record, place, report)
            except RecordError as error:
                report.error(error)
                continue
            if subset == "ANS" and not example.answerable:
                report.note("queries outside ANS")
            elif subset == "NLG" and "nlg" not in example.answers:
                report.note("queries outside NLG")
            else:
                report.location = place
                yield _keep(example, styles)
        if not result and not report.skipped:
            raise RecordError("holds no record", path=path, record="file")

    return ExampleStream(read, on_error)


def _is_columnar(path: str | PathLike) -> bool:
    """Whether the file is one object of columns: its first value is an object."""
    events = []
    with open_binary(path) as file:
        try:
            for event, _ in ijson.basic_parse(file, buf_size=1 << 8, multiple_values=True):
                events.append(event)
                if len(events) == 3:
                    break
        except ijson.JSONError:
            return False  # the lines' own errors say more
    if events[:1] == ["start_array"]:
        raise RecordError(
            "must begin with an object: columns, or one record a line", path=path, record="file"
        )
    return events == ["start_map", "map_key", "start_map"]


def _columns(path: str | PathLike, report: Report) -> Iterator[tuple[Place, Any]]:
    for record, place, wrong in json_rows(path, _LEADER, _COLUMNS):
        if wrong is None:
            yield place, record
        else:
            report.error(wrong)


def _lines(path: str | PathLike, report: Report) -> Iterator[tuple[Place, Any]]:
    with open_binary(path) as file:
        yield from json_lines(file, path, report)


def _example(record: Any, place: Place, report: Report) -> Example:
    number = place.get(record, "query_id")
    if not isinstance(number, int | str) or isinstance(number, bool) or not str(number).strip():
        raise place.error(f"must be a number. Received: query_id={short(number)}", "query_id")
    place = Place(place.path, f"{place.record}, query_id {number}")
    query = place.text(record, "query")
    query_type = place.text(record, "query_type") if "query_type" in record else None
    texts, relevance = _passages(record, place, report)
    answers, answerable = _answers(record, place, report)
    try:
        return Example(
            id=str(number),
            question=query,
            passages=texts,
            answers=answers,
            answerable=answerable,
            relevance=relevance,
            query_type=query_type,
        )
    except ValueError as error:
        raise place.error(str(error)) from error


def _passages(
    record: Any, place: Place, report: Report
) -> tuple[tuple[str, ...], tuple[bool, ...] | None]:
    passages = place.list(record, "passages")
    if not passages:
        raise place.error("there is no passage", "passages")
    texts = tuple(place.text(passage, "passage_text", blank=True) for passage in passages)
    blank = sum(not text.strip() for text in texts)
    if blank == len(texts):
        raise place.error("all passages are blank", "passages")
    if blank:
        report.note("queries with blank passages")
    selected = [passage.get("is_selected", -1) for passage in passages]
    for value in selected:
        if value not in (0, 1, -1):
            raise place.error(
                f"must be 0, 1 or -1 (unknown). Received: is_selected={short(value)}", "is_selected"
            )
    return texts, None if -1 in selected else tuple(value == 1 for value in selected)


def _answers(
    record: Any, place: Place, report: Report
) -> tuple[dict[str, tuple[str, ...]], bool | None]:
    if "answers" not in record:
        return {}, None
    given = _texts(record, "answers", place)
    formed = _texts(record, "wellFormedAnswers", place) if "wellFormedAnswers" in record else []
    answers = {}
    for style, texts in zip(STYLES, (given, formed), strict=True):
        kept = tuple(t for t in texts if t.strip() and t.strip() != NO_ANSWER)
        if kept:
            answers[style] = kept
        if any(not t.strip() for t in texts):
            report.note(f"queries with blank {style} answers")
    if answers:
        return answers, True
    return {}, False if all(t.strip() == NO_ANSWER for t in given) else None


def _texts(record: Any, field: str, place: Place) -> list[str]:
    value = record[field]
    if field == "wellFormedAnswers" and value == "[]":
        return []
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise place.error(f"must be a list of strings. Received: {field}={short(value)}", field)
    return value


def _keep(example: Example, styles: tuple[str, ...]) -> Example:
    if all(style in styles for style in example.answers):
        return example
    kept = {style: texts for style, texts in example.answers.items() if style in styles}
    return replace(example, answers=kept)
