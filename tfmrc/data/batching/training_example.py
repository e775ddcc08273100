"""Training records: an example with one style and one answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tfmrc.data.example import Example
from tfmrc.data.formats.tables import read_table
from tfmrc.data.transforms.exact_spans import with_exact_spans

Examples = Iterable[Any] | Callable[[], Iterable[Any]]
"""Examples or records: a list, an `ExampleStream`, or a callable that returns an iterable."""


def examples_of(source: Examples, style: str = "span", with_spans: bool = False) -> Examples:
    """Returns the examples of a list of dicts with the columns of a table; others as they are.

    Args:
        source: list of dict as for `tfmrc.data.read_table`, or any other source.
        style: str. Style of the answers. Default: "span".
        with_spans: bool. Whether an example is reduced to the passage that has its answer, with the
            position; those whose answer occurs nowhere stay as they are. Default: False.

    Example:

    >>> row = {"question": "Who flew?", "passage": "An owl flew.", "answer": "An owl"}
    >>> examples_of([row], with_spans=True)[0].spans
    (Span(passage=0, start=0, end=6),)
    """
    if not isinstance(source, Sequence) or not source or not isinstance(source[0], Mapping):
        return source
    read = list(read_table(source, style=style))
    if not with_spans:
        return read
    return [next(with_exact_spans([example], style), example) for example in read]


class TrainingExample(NamedTuple):
    """An example with one answer style; one row of a batch.

    Attributes:
        example: `Example`.
        style: str. The answer style.
        answer: str. The training target; "" if there is none.
    """

    example: Example
    style: str
    answer: str

    @property
    def length(self) -> int:
        """Number of characters of the question and the longest passage, the sort key of batches."""
        longest = max(map(len, self.example.passages), default=0)
        return len(self.example.question) + longest


def records(
    examples: Iterable[Example | TrainingExample], styles: Sequence[str]
) -> Iterator[TrainingExample]:
    """Yields one record per example and answer style; the first reference is the target.

    An example without any answer (unanswerable or unlabelled) gives a record with an empty answer
    for every style. An example with answers in other styles only gives no record. Records are
    passed through, so that datasets of different styles can be joined:
    ``[*records(squad, ["span"]), *records(narrativeqa, ["nqa"])]``.

    Args:
        examples: iterable of `Example` or `TrainingExample`.
        styles: sequence of str. The answer styles.

    Example:

    >>> example = Example("1", "Who?", ("An owl.",), {"qa": ("An owl", "owl")})
    >>> [(record.style, record.answer) for record in records([example], ["qa", "nlg"])]
    [('qa', 'An owl')]
    """
    for example in examples:
        if isinstance(example, TrainingExample):
            yield example
            continue
        for style in styles:
            if not example.answers:
                yield TrainingExample(example, style, "")
            elif style in example.answers:
                yield TrainingExample(example, style, example.answers[style][0])
