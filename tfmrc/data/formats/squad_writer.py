"""Any dataset in SQuAD's form: `python -m tfmrc.data.formats.squad_writer FILE TO`."""

import argparse
import heapq
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any

from tfmrc.data.example import Example
from tfmrc.data.formats.detect import read_file
from tfmrc.data.formats.squad import FREE
from tfmrc.data.stream import open_to_write
from tfmrc.data.transforms.splits import group_number


def write_squad(
    path: str | PathLike, examples: Iterable[Example], *, style: str | None = None
) -> int:
    """Write examples in SQuAD's form (v2.0), as DAANET reads all its datasets.

    An example's passages, a space between them, are its context; examples that follow each other
    with one group are an article, with one context too a paragraph. An answer begins where
    ``spans`` says, otherwise where it first stands in the context, otherwise nowhere:
    ``answer_start`` is then -1, which ``read_squad`` understands. One article is held at a time.

    Args:
        path: the file to write, compressed if it ends in ``.gz``; its folder must exist.
        examples: the examples.
        style: of the answers that are written; None for the first style of each example. An
            example that has answers, but none of this style, is left out.

    Returns:
        The number of questions written.

    Raises:
        ValueError: no example has an answer of this style, but some have others; the file is left
            as it was.

    Example:

    >>> import tempfile
    >>> from tfmrc.data import read_squad
    >>> example = Example("1", "Who flew?", ("An owl flew.",), {"qa": ("An owl", "It was Ada.")})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/squad.json"
    ...     written = write_squad(path, [example])
    ...     [again] = read_squad(path)
    >>> again.answers, again.spans
    ({'span': ('An owl', 'It was Ada.')}, (Span(passage=0, start=0, end=6),))

    Reference: Xiao et al. 2018 (DAANET), "Datasets".
    """
    count = 0
    others: set[str] = set()

    def of_style() -> Iterator[Example]:
        for example in examples:
            if style is None or not example.answers or style in example.answers:
                yield example
            else:
                others.update(example.answers)

    answered = False
    with open_to_write(path) as file:
        file.write('{"version": "v2.0", "data": [')
        for number, (title, article) in enumerate(groupby(of_style(), key=_title)):
            paragraphs: list[dict[str, Any]] = [
                {"context": context, "qas": [_question(e, context, style) for e in questions]}
                for context, questions in groupby(article, key=lambda e: " ".join(e.passages))
            ]
            count += sum(len(paragraph["qas"]) for paragraph in paragraphs)
            answered |= any(qa["answers"] for paragraph in paragraphs for qa in paragraph["qas"])
            content = {"title": title, "paragraphs": paragraphs}
            file.write(",\n" * bool(number) + json.dumps(content, ensure_ascii=False))
        file.write("]}\n")
        if others and not answered:
            raise ValueError(
                f"No example has an answer of this style; there are {', '.join(sorted(others))}. "
                f"Received: style={style!r}"
            )
    return count


def _title(example: Example) -> str:
    return example.id if example.group is None else example.group


def _question(example: Example, context: str, style: str | None) -> dict[str, Any]:
    options = style or next(iter(example.answers), "")
    texts = example.answers.get(options, ())
    lengths = [len(passage) + 1 for passage in example.passages]
    told: dict[str, list[int]] = {}
    for span in example.spans:
        place = sum(lengths[: span.passage]) + span.start
        told.setdefault(example.span_text(span), []).append(place)
    answers = []
    for text in texts:
        places = told.get(text) or [_place(text, context)]
        # One text may stand in several places, each of which is told once.
        start = places.pop(0) if len(places) > 1 else places[0]
        answers.append({"text": text, "answer_start": start})
    record: dict[str, Any] = {"id": example.id, "question": example.question, "answers": answers}
    if texts or example.answerable is False:
        record["is_impossible"] = not texts
    return record


def _place(text: str, context: str) -> int:
    """Where a text first stands as words of its own; FREE if it does not."""
    result = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", context)
    return FREE if result is None else result.start()


def drawn(examples: Iterable[Example], limit: int | None, seed: int = 0) -> Iterator[Example]:
    """At most ``limit`` examples, drawn by their ids alone, in their own order.

    The examples are read twice, and of the first pass only ids are held.

    Example:

    >>> examples = [Example(str(n), "Why?", ("So.",)) for n in range(50)]
    >>> [example.id for example in drawn(examples, 3)]
    ['11', '28', '46']
    """
    if limit is None:
        yield from examples
        return
    numbered = ((group_number(example.id, seed), example.id) for example in examples)
    options = {name for _, name in heapq.nsmallest(limit, numbered)}
    yield from (example for example in examples if example.id in options)


class _Answered:
    """The examples that have an answer of a style (or of any), readable twice."""

    def __init__(self, examples: Iterable[Example], style: str | None):
        self.examples, self.style = examples, style

    def __iter__(self) -> Iterator[Example]:
        return (e for e in self.examples if (self.style in e.answers if self.style else e.answers))


def parser() -> argparse.ArgumentParser:
    """Returns the parser of `python -m tfmrc.data.formats.squad_writer`."""
    program = argparse.ArgumentParser(
        prog="python -m tfmrc.data.formats.squad_writer",
        description=str(main.__doc__).partition("\n")[0],
    )
    program.add_argument("file", type=Path, help="MS MARCO, TriviaQA, WikiQA, qaps.csv, …")
    program.add_argument("to", type=Path, help="the file to write")
    program.add_argument("--split", help="of NarrativeQA")
    program.add_argument("--style", help="of the answers; default: the first of each question")
    program.add_argument("--answered", action="store_true", help="leave out what has no answer")
    program.add_argument("--limit", type=int, help="at most so many questions, drawn by id")
    program.add_argument("--skip", action="store_true", help="skip broken records and say how many")
    return program


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a file of any known format in SQuAD's form."""
    options = parser().parse_args(arguments)
    try:
        stream = read_file(
            options.file, on_error="skip" if options.skip else "raise", split=options.split
        )
        examples = _Answered(stream, options.style) if options.answered else stream
        options.to.parent.mkdir(parents=True, exist_ok=True)
        count = write_squad(options.to, drawn(examples, options.limit), style=options.style)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{options.file}: {stream.report}", file=sys.stderr)
    print(f"{options.to}: {count:,} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
