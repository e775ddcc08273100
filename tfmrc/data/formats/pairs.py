"""Pairs of sentence and question in two parallel text files, as published by Du et al."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from os import PathLike
from pathlib import Path

from tfmrc.data.example import Example
from tfmrc.data.formats.fields import RecordLocation
from tfmrc.data.formats.registry import register_format
from tfmrc.data.stream import Account, ExampleStream, OnError, RecordError, open_text

# Escapes of the Penn Treebank's tokenizer.
_MARKS = {
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}",
    "``": '"', "''": '"',
}  # fmt: skip
_ESCAPED = re.compile("|".join(rf"(?<!\S){re.escape(mark)}(?!\S)" for mark in _MARKS), re.I)


def questions_of(path: Path) -> Path:
    """Returns the file of the questions, `tgt-train.txt`, for `src-train.txt`."""
    return path.with_name(path.name.replace("src", "tgt", 1))


@register_format("pairs", one_style=True, files={"questions": questions_of})
def read_pairs(
    passages: str | PathLike, questions: str | PathLike, *, on_error: OnError = "raise"
) -> ExampleStream:
    """Reads two parallel files: a sentence or passage per line, and a question per line.

    This is the format of Du et al.'s ``src-train.txt`` and ``tgt-train.txt``, which are tokenised
    and in lower case. Brackets and quotation marks in the Penn Treebank's notation (``-lrb-``) are
    converted back; nothing else is changed. The files contain no answers, so the examples have no
    answers and ``answerable`` is None.

    Args:
        passages: str or path. File of the passages.
        questions: str or path. File of the questions.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a blank line; ``"skip"`` counts the
            line and continues. Default: ``"raise"``.

    Returns:
        A stream of examples; ``id`` is the first file's name and the line number, ``group`` the
        passage.

    Raises:
        RecordError: While reading: a line is blank, or one file has more lines than the other.

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
    name = Path(passages).name.split(".")[0]

    def read(account: Account) -> Iterator[Example]:
        number = 0
        both = zip_longest(_lines(passages), _lines(questions), fillvalue="")
        for number, (passage, question) in enumerate(both, start=1):
            location = RecordLocation(passages, f"line {number}")
            if not passage or not question:
                raise location.error("one file has more lines than the other")
            with account.checked():
                texts = {"passage": passage, "question": question}
                passage, question = (
                    _ESCAPED.sub(
                        lambda found: _MARKS[found.group().lower()],
                        location.text(texts, field).strip(),
                    )
                    for field in texts
                )
                yield Example(f"{name}-{number}", question, (passage,), group=passage)
        if not number:
            raise RecordError("contains no line", path=passages, record="file")

    return ExampleStream(read, on_error)


def _lines(path: str | PathLike) -> Iterator[str]:
    """Yields the lines of one file, so that its errors name it and not the other file.

    A carriage return within a line does not end it: the pairs after it would be of other lines.
    """
    with open_text(path, newline="\n") as file:
        yield from file
