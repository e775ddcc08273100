"""SQuAD: v1.1, v2.0 and the adversarial sets, article by article."""

from collections.abc import Iterator
from os import PathLike
from typing import Any

from tfmrc.data.example import Example, Span
from tfmrc.data.formats.fields import Place
from tfmrc.data.formats.json_stream import json_items
from tfmrc.data.stream import ExampleStream, OnError, RecordError, Report, open_binary

FREE = -1
"""The ``answer_start`` of an answer that was written freely: it does not stand in its context."""


def read_squad(
    path: str | PathLike, *, style: str = "span", on_error: OnError = "raise"
) -> ExampleStream:
    """Read a SQuAD file: each question with its own paragraph as the only passage.

    Reads the official form of v1.1, v2.0 and Adversarial SQuAD, ``.gz`` as it is. One article is
    held at a time. All references are kept, in the order of the file, and ``spans`` says where
    each of them stands; one whose ``answer_start`` is -1 was written freely and stands nowhere
    (``write_squad`` writes so). In v1.1 every question is answerable; a question without answers
    and without ``is_impossible`` is one whose answer is not told (``answerable`` is ``None``).

    Args:
        path: the file.
        style: name of the answers' style.
        on_error: ``"raise"`` a ``RecordError`` at a broken question, or ``"skip"`` and count it.

    Returns:
        A stream of examples; ``group`` is the article's title.

    Raises:
        RecordError: while reading: a field is missing or has a wrong type, a text is blank, an
            answer does not stand where its offset says, the file is cut short or no JSON.

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
        number = 0
        with open_binary(path) as file:
            for number, article in json_items(file, path, "data", "article", report):
                yield from _article(article, Place(path, f"article {number}"), style, report)
        if not number and not report.skipped:
            raise RecordError("holds no article", path=path, record="file", field="data")

    return ExampleStream(read, on_error)


def _article(article: Any, place: Place, style: str, report: Report) -> Iterator[Example]:
    try:
        paragraphs = place.list(article, "paragraphs")
        title = place.text(article, "title") if "title" in article else place.record
    except RecordError as error:
        report.error(error)
        return
    for number, paragraph in enumerate(paragraphs, 1):
        where = Place(place.path, f"article {title!r}, paragraph {number}")
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
            report.location = Place(where.path, f"{where.record}, question {count}")
            yield example


def _question(qa: Any, context: str, title: str, style: str, where: Place, number: int) -> Example:
    place = Place(where.path, f"{where.record}, question {number}")
    name = place.text(qa, "id")
    place = Place(where.path, f"id {name!r}")
    question = place.text(qa, "question")
    answers = place.list(qa, "answers")
    impossible = place.flag(qa, "is_impossible")
    if impossible and answers:
        raise place.error("an impossible question has no answers", "answers")
    if impossible is False and not answers:
        raise place.error("a question that is not impossible has an answer", "answers")
    texts, spans = [], []
    for answer in answers:
        text = place.text(answer, "text")
        start = place.get(answer, "answer_start")
        if not isinstance(start, int) or isinstance(start, bool):
            raise place.error(
                f"must be an integer. Received: answer_start={start!r}", "answer_start"
            )
        if start != FREE and (start < 0 or context[start : start + len(text)] != text):
            raise place.error(
                "the answer does not stand there. "
                f"Received: answer_start={start}, text={text!r}, "
                f"there is {context[max(0, start) : max(0, start) + len(text)]!r}",
                "answer_start",
            )
        texts.append(text)
        if start != FREE:
            spans.append(Span(0, start, start + len(text)))
    try:
        return Example(
            id=name,
            question=question,
            passages=(context,),
            answers={style: tuple(texts)} if texts else {},
            answerable=True if texts else (False if impossible else None),
            relevance=None if impossible is None and not texts else (bool(texts),),
            spans=tuple(spans),
            group=title,
        )
    except ValueError as error:
        raise place.error(str(error)) from error
