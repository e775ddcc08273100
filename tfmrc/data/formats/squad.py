"""SQuAD: v1.1, v2.0 and the adversarial sets."""

from collections.abc import Iterator
from os import PathLike
from typing import Any

from tfmrc.data.example import Example, Span
from tfmrc.data.formats.fields import RecordLocation
from tfmrc.data.formats.json_stream import json_items
from tfmrc.data.formats.registry import register_format
from tfmrc.data.stream import ExampleStream, OnError, RecordError, Report, open_binary

FREE = -1
"""The ``answer_start`` of a free-form answer, which does not occur in its context."""


@register_format("squad")
def read_squad(
    path: str | PathLike, *, style: str = "span", on_error: OnError = "raise"
) -> ExampleStream:
    """Reads a SQuAD file: each question with its paragraph as the only passage.

    Reads the official format of v1.1, v2.0 and Adversarial SQuAD, one article at a time. All
    references are kept, in the order of the file, with their ``spans``. An answer whose
    ``answer_start`` is -1 is free-form and has no span (``write_squad`` writes such files). In
    v1.1 every question is answerable. A question with neither answers nor ``is_impossible`` is
    unlabelled (``answerable`` is None).

    Args:
        path: str or path. The file, which may be gzipped.
        style: str. Answer style. Default: ``"span"``.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a broken question; ``"skip"`` counts
            the question and continues. Default: ``"raise"``.

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

    def read(report: Report) -> Iterator[Example]:
        with open_binary(path) as file:
            for number, article in json_items(file, path, "data", "article"):
                yield from _article(
                    article, RecordLocation(path, f"article {number}"), style, report
                )

    return ExampleStream(read, on_error)


def _article(
    article: Any, location: RecordLocation, style: str, report: Report
) -> Iterator[Example]:
    try:
        paragraphs = location.list(article, "paragraphs")
        title = location.text(article, "title") if "title" in article else location.record
    except RecordError as error:
        report.error(error)
        return
    for number, paragraph in enumerate(paragraphs, 1):
        where = RecordLocation(location.path, f"article {title!r}, paragraph {number}")
        try:
            context = where.text(paragraph, "context")
            questions = where.list(paragraph, "qas")
        except RecordError as error:
            report.error(error)
            continue
        for count, qa in enumerate(questions, 1):
            try:
                example = _question(qa, context, title, style, where, count)
            except RecordError as error:
                report.error(error)
                continue
            report.location = RecordLocation(where.path, f"{where.record}, question {count}")
            yield example


def _question(
    qa: Any, context: str, title: str, style: str, where: RecordLocation, number: int
) -> Example:
    location = RecordLocation(where.path, f"{where.record}, question {number}")
    name = location.text(qa, "id")
    location = RecordLocation(where.path, f"id {name!r}")
    question = location.text(qa, "question")
    answers = location.list(qa, "answers")
    impossible = location.flag(qa, "is_impossible")
    if impossible and answers:
        raise location.error("must be empty for an impossible question", "answers")
    if impossible is False and not answers:
        raise location.error("must not be empty unless the question is impossible", "answers")
    texts, spans = [], []
    for answer in answers:
        text = location.text(answer, "text")
        start = location.get(answer, "answer_start")
        if not isinstance(start, int) or isinstance(start, bool):
            raise location.error(
                f"must be an integer. Received: answer_start={start!r}", "answer_start"
            )
        if start != FREE and (start < 0 or context[start : start + len(text)] != text):
            raise location.error(
                "the answer does not occur there. "
                f"Received: answer_start={start}, text={text!r}, "
                f"context has {context[max(0, start) : max(0, start) + len(text)]!r}",
                "answer_start",
            )
        texts.append(text)
        if start != FREE:
            spans.append(Span(0, start, start + len(text)))
    return location.example(
        id=name,
        question=question,
        passages=(context,),
        answers={style: tuple(texts)} if texts else {},
        answerable=True if texts else (False if impossible else None),
        relevance=None if impossible is None and not texts else (bool(texts),),
        spans=tuple(spans),
        group=title,
    )
