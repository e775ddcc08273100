"""Files in SQuAD's format of the examples of any reader."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from os import PathLike
from typing import Any

from tfmrc.data.example import Example
from tfmrc.data.formats.rows import FREE
from tfmrc.data.stream import open_to_write
from tfmrc.text.words.unspaced import RANGES


def write_squad(
    path: str | PathLike, examples: Iterable[Example], *, style: str | None = None
) -> int:
    """Writes examples in SQuAD's format (v2.0), which DAANET uses for all datasets.

    An example's passages, joined by spaces, are its context. Consecutive examples of one group
    form an article; those with the same context form a paragraph. An answer begins at its span, or
    else at its first occurrence as whole words of the context, or as characters in scripts without
    spaces. An answer that does not occur so gets ``answer_start`` -1, which ``read_squad`` reads.
    One article is held at a time.

    Args:
        path: str or path. The file to write, compressed if it ends in ``.gz``; its folder must
            exist.
        examples: iterable of `Example`.
        style: str. Style of the answers to write. An example with answers of other styles only is
            left out. Default: None, the first style of each example.

    Returns:
        The number of questions written.

    Raises:
        ValueError: Examples have answers, but none of this style. The file is not changed.

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
    return example.group if example.group and example.group.strip() else example.id


def _question(example: Example, context: str, style: str | None) -> dict[str, Any]:
    texts = example.answers.get(style or next(iter(example.answers), ""), ())
    lengths = [len(passage) + 1 for passage in example.passages]
    known: dict[str, list[int]] = {}
    for span in example.spans:
        start = sum(lengths[: span.passage]) + span.start
        known.setdefault(example.span_text(span), []).append(start)
    answers = []
    for text in texts:
        starts = known.get(text) or [_first_start(text, context)]
        # A text may occur several times; each occurrence is used once.
        start = starts.pop(0) if len(starts) > 1 else starts[0]
        answers.append({"text": text, "answer_start": start})
    record: dict[str, Any] = {"id": example.id, "question": example.question, "answers": answers}
    if texts or example.answerable is False:
        record["is_impossible"] = not texts
    return record


def _first_start(text: str, context: str) -> int:
    """Returns the first occurrence of a text as whole words; FREE if there is none."""
    before = "" if re.match(f"[{RANGES}]", text) else rf"(?<![^\W{RANGES}])"
    after = "" if re.search(rf"[{RANGES}]\Z", text) else rf"(?![^\W{RANGES}])"
    result = re.search(before + re.escape(text) + after, context)
    return FREE if result is None else result.start()
