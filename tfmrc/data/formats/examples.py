"""Files of examples as JSON lines, the format of tfmrc."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from os import PathLike
from typing import Any

from tfmrc.data.example import Example, Span
from tfmrc.data.formats.json_stream import json_lines
from tfmrc.data.formats.registry import register_format
from tfmrc.data.stream import Account, ExampleStream, OnError, open_binary, open_to_write


@register_format("examples")
def read_examples(path: str | PathLike, *, on_error: OnError = "raise") -> ExampleStream:
    """Reads examples from JSON lines, one at a time.

    Args:
        path: str or path. A file of ``write_examples``, which may be gzipped.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a broken line; ``"skip"`` counts the
            line and continues. Default: ``"raise"``.

    Returns:
        A stream that can be read any number of times.

    Raises:
        RecordError: While reading: a line is broken, an id occurs twice, or the file is empty.
    """

    def read(account: Account) -> Iterator[Example]:
        with open_binary(path) as file:
            for location, record in json_lines(file, path, account):
                with account.checked():
                    asked = {name: location.get(record, name) for name in ("question", "passages")}
                    asked["id"] = location.name(record.get("id"))
                    example = location.labelled(account, partial(_labels, record), **asked)
                    account.location = location
                    yield example

    return ExampleStream(read, on_error)


def _labels(record: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "spans": [Span(*span) for span in record.get("spans", ())]}


def write_examples(path: str | PathLike, examples: Iterable[Example]) -> int:
    """Writes examples as JSON lines, one at a time.

    A name that ends in ``.gz`` gives a compressed file without a time stamp, so the same examples
    give the same bytes.

    Args:
        path: str or path. The file to write; its folder must exist.
        examples: iterable of `Example`.

    Returns:
        The number of examples written.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/examples.jsonl.gz"
    ...     count = write_examples(path, [Example("1", "Why?", ("So.",))])
    ...     [example.question for example in read_examples(path)]
    ['Why?']
    """
    count = 0
    with open_to_write(path) as file:
        for example in examples:
            file.write(example.to_json() + "\n")
            count += 1
    return count
