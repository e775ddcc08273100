"""Sentences and the questions about them, line by line, as Du et al. published theirs."""

import re
from collections.abc import Iterator
from itertools import count
from os import PathLike
from pathlib import PurePath

from tfmrc.data.example import Example
from tfmrc.data.formats.fields import Place
from tfmrc.data.stream import ExampleStream, OnError, RecordError, Report, open_text

# What the Penn Treebank's tokeniser writes for marks that its own files use otherwise.
_MARKS = {
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}",
    "``": '"', "''": '"',
}  # fmt: skip
_ESCAPED = re.compile("|".join(rf"(?<!\S){re.escape(mark)}(?!\S)" for mark in _MARKS), re.I)


def read_pairs(
    passages: str | PathLike, questions: str | PathLike, *, on_error: OnError = "raise"
) -> ExampleStream:
    """Read two files whose lines belong together: a sentence or passage, and a question about it.

    That is the form of Du et al.'s ``src-train.txt`` and ``tgt-train.txt``, tokenised and in lower
    case. Brackets and quotation marks, which stand there as the Penn Treebank writes them
    (``-lrb-``), become marks again; nothing else is changed. What is asked for is not told, so the
    examples have no answers, and whether they are answerable is not told either.

    Args:
        passages: file of the passages.
        questions: file of the questions.
        on_error: ``"raise"`` a ``RecordError`` at a blank line, or ``"skip"`` and count it.

    Returns:
        A stream of examples; ``id`` is the first file's name and the line, ``group`` the passage.

    Raises:
        RecordError: while reading: a line is blank, or one file has more lines than the other.

    Example:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = (pathlib.Path(folder, f"{name}-dev.txt") for name in ("src", "tgt"))
    ...     _ = source.write_text("an owl -lrb- or two -rrb- flew .\\n")
    ...     _ = target.write_text("what flew ?\\n")
    ...     [example] = read_pairs(source, target)
    >>> example.id, example.passages, example.question
    ('src-dev-1', ('an owl ( or two ) flew .',), 'what flew ?')

    Reference: Du et al. 2017.
    """
    name = PurePath(passages).name.split(".")[0]

    def read(report: Report) -> Iterator[Example]:
        number = 0
        with open_text(passages) as of_passages, open_text(questions) as of_questions:
            for number in count(1):
                passage, question = of_passages.readline(), of_questions.readline()
                place = Place(passages, f"line {number}")
                if not passage and not question:
                    break
                if not passage or not question:
                    raise place.error("one file has more lines than the other")
                try:
                    yield _example(f"{name}-{number}", passage, question, place)
                except RecordError as error:
                    report.error(error)
        if number == 1:
            raise RecordError("holds no line", path=passages, record="file")

    return ExampleStream(read, on_error)


def _example(name: str, passage: str, question: str, place: Place) -> Example:
    record = {"passage": passage, "question": question}
    passage, question = (
        _ESCAPED.sub(
            lambda result: _MARKS[result.group().lower()], place.text(record, field).strip()
        )
        for field in ("passage", "question")
    )
    return Example(id=name, question=question, passages=(passage,), group=passage)
