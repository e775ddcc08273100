"""SQuAD: v1.1, v2.0, the adversarial sets, and files of its articles or paragraphs."""

from collections.abc import Iterator
from itertools import count
from os import PathLike
from typing import Any

from tfmrc.data.example import Example
from tfmrc.data.formats.fields import RecordLocation
from tfmrc.data.formats.json_stream import json_records
from tfmrc.data.formats.registry import register_format
from tfmrc.data.formats.rows import BlankAnswers, example_of
from tfmrc.data.stream import Account, ExampleStream, OnError


@register_format("squad")
def read_squad(
    path: str | PathLike,
    *,
    style: str = "span",
    on_error: OnError = "raise",
    blank_answers: BlankAnswers = "unknown",
) -> ExampleStream:
    """Reads a SQuAD file: each question with its paragraph as the only passage.

    Reads the official format of v1.1, v2.0 and Adversarial SQuAD, and articles or paragraphs
    without ``data`` around them, one article at a time. All references are kept, in the order of
    the file, with their ``spans``. An answer whose ``answer_start`` is -1 is free-form and has no
    span (``write_squad`` writes such files); one that is not at its ``answer_start``, but once in
    the paragraph, is located and counted. In v1.1 every question is answerable; QuAC's CANNOTANSWER
    is unanswerable. A question with neither answers nor ``is_impossible`` is unlabelled
    (``answerable`` is None).

    Args:
        path: str or path. The file, which may be gzipped.
        style: str. Answer style. Default: ``"span"``.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a broken question; ``"skip"`` counts
            the question and continues. Default: ``"raise"``.
        blank_answers: str. Whether a question with a blank answer is ``"unknown"``, or has
            ``"none"``. Default: ``"unknown"``.

    Returns:
        A stream of examples; ``group`` is the article's title.

    Raises:
        RecordError: While reading: a field is missing or has a wrong type, a text is blank, an
            answer does not occur at its offset, the file is truncated or not JSON.

    Example:

    >>> import json, pathlib, tempfile
    >>> answer = {"text": "An owl", "answer_start": 0}
    >>> qa = {"id": "q1", "question": "Who flew?", "answers": [answer]}
    >>> article = {"title": "Owls", "paragraphs": [{"context": "An owl flew.", "qas": [qa]}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "squad.json")
    ...     _ = path.write_text(json.dumps({"version": "1.1", "data": [article]}))
    ...     [example] = read_squad(path)
    >>> example.answers, example.spans
    ({'span': ('An owl',)}, (Span(passage=0, start=0, end=6),))

    Reference: Rajpurkar et al. 2016 and 2018; Jia and Liang 2017.
    """

    def read(account: Account) -> Iterator[Example]:
        for where, location, row in _rows(path, account):
            with account.checked():
                example = example_of(row, location, account, style, blank_answers, ranked=True)
                account.location = where
                yield example

    return ExampleStream(read, on_error)


def _rows(
    path: str | PathLike, account: Account
) -> Iterator[tuple[RecordLocation, RecordLocation, dict[str, Any]]]:
    """Yields the place of each question, the location that its errors name, and its row."""
    rows = count(1)
    for number, (_, article) in enumerate(json_records(path, account, "article"), 1):
        location = RecordLocation(path, f"article {number}")
        with account.checked():
            is_paragraph = isinstance(article, dict) and "qas" in article
            paragraphs = [article] if is_paragraph else location.list(article, "paragraphs")
            title = location.text(article, "title") if "title" in article else location.record
            for position, paragraph in enumerate(paragraphs, 1):
                where = RecordLocation(path, f"article {title!r}, paragraph {position}")
                with account.checked():
                    yield from _questions(paragraph, where, title, rows)


def _questions(
    paragraph: object, where: RecordLocation, title: str, rows: Iterator[int]
) -> Iterator[tuple[RecordLocation, RecordLocation, dict[str, Any]]]:
    context = where.text(paragraph, "context")
    for order, (qa, row) in enumerate(zip(where.list(paragraph, "qas"), rows, strict=False), 1):
        place = RecordLocation(where.path, f"{where.record}, question {order}", row)
        given = qa if isinstance(qa, dict) else {"question": qa}
        name, answers = given.get("id"), given.get("answers")
        named = place if name is None else RecordLocation(where.path, f"id {name!r}", row)
        # In v1.1 a question without answers is unlabelled.
        told = answers or (None if given.get("is_impossible") is None else [])
        row_of = {field: given.get(field) for field in ("id", "question", "is_impossible")}
        yield place, named, {**row_of, "passages": context, "group": title, "answers": told}
