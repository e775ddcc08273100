"""Training records: an example with one style and one answer, and how many there are."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tfmrc.data.example import Example

Source = Iterable[Any] | Callable[[], Iterable[Any]]
"""Examples or records: a list, a reader's stream, or a function that gives them anew."""


class TrainingExample(NamedTuple):
    """What one row of a batch is made of.

    Attributes:
        example: the example.
        style: the style to answer in.
        answer: the training target; "" if there is none.
    """

    example: Example
    style: str
    answer: str

    @property
    def length(self) -> int:
        """Characters of the question and the longest passage: what batches are sorted by."""
        longest = max(map(len, self.example.passages), default=0)
        return len(self.example.question) + longest


def records(
    examples: Iterable[Example | TrainingExample], styles: Sequence[str]
) -> Iterator[TrainingExample]:
    """A record for every style that an example answers in; the first reference is the target.

    An example without any answer (unanswerable, or not told) gives a record with an empty answer
    for every style; one that answers in other styles only gives none. Records pass through, so
    that data sets of different styles can be joined:
    ``[*records(squad, ["span"]), *records(narrativeqa, ["nqa"])]``.

    Args:
        examples: examples, or records.
        styles: the styles to answer in.

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


def num_steps(
    examples: Source, batch_size: int, styles: Sequence[str], *, drop_remainder: bool = False
) -> int:
    """How many batches a pass over the examples gives; reads them once.

    Args:
        examples: as for ``make_dataset``.
        batch_size: records a batch.
        styles: the styles to answer in.
        drop_remainder: whether a last, smaller batch is left out.

    Example:

    >>> num_steps([Example("1", "Who?", ())] * 5, batch_size=2, styles=["qa"])
    3
    """
    count = sum(1 for _ in records(examples() if callable(examples) else examples, styles))
    return count // batch_size if drop_remainder else -(-count // batch_size)
