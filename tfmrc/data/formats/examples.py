"""Files of examples: JSON lines, tfmrc's own format."""

from collections.abc import Iterable, Iterator
from os import PathLike

from tfmrc.data.example import Example
from tfmrc.data.formats.json_stream import json_lines
from tfmrc.data.stream import ExampleStream, OnError, Report, open_binary, open_to_write


def read_examples(path: str | PathLike, *, on_error: OnError = "raise") -> ExampleStream:
    """Reads examples from JSON lines, one at a time; ``.gz`` is read as it is.

    Args:
        path: The file that ``write_examples`` wrote.
        on_error: ``"raise"`` a ``RecordError`` at a broken line, or ``"skip"`` and count it.

    Returns:
        A stream that can be read any number of times.

    Raises:
        RecordError: While reading, at a broken line or an id that occurs twice; or the file holds
            no line.
    """

    def read(report: Report) -> Iterator[Example]:
        with open_binary(path) as file:
            for place, record in json_lines(file, path, report):
                try:
                    example = Example.from_record(record)
                except (ValueError, TypeError, RecursionError) as error:
                    report.error(place.error(str(error)))
                    continue
                report.location = place
                yield example

    return ExampleStream(read, on_error)


def write_examples(path: str | PathLike, examples: Iterable[Example]) -> int:
    """Writes examples as JSON lines, one at a time; compressed if the name ends in ``.gz``.

    A compressed file holds no time stamp: the same examples give the same bytes.

    Args:
        path: The file to write; its folder must exist.
        examples: The examples.

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
