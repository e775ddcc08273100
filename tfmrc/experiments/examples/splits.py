"""Four strategies that divide the examples of a source into training, validation and test."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tfmrc.data import Example, split_by_group
from tfmrc.data.transforms.sentences import sentences
from tfmrc.data.transforms.splits import group_of
from tfmrc.experiments.examples.files import PARTS
from tfmrc.experiments.examples.spans import with_spans
from tfmrc.experiments.settings import Source, Split

Examples = Iterable[Example]
Parts = tuple[Examples, Examples, Examples | None]


@dataclass(frozen=True)
class Given:
    """What a strategy divides.

    Attributes:
        rows: iterable of `Example`. The rows of the training file.
        train: iterable of `Example`. The examples of the training file, with spans.
        test: iterable of `Example` or None. The rows of the test file.
        spans: bool. Whether test examples need the passage that holds the answer, and its span.
        source: `Source`. The source.
    """

    rows: Examples
    train: Examples
    test: Examples | None
    spans: bool
    source: Source

    def located(self, test: Examples | None) -> Examples | None:
        """Returns test examples as the model gets them."""
        return with_spans(test, self.source) if self.spans and test is not None else test


def _by_ids(given: Given, split: Split) -> Parts:
    """Takes the examples that three lists name."""
    known = {example.id: example for example in (*given.train, *(given.located(given.test) or ()))}
    parts = []
    for part in PARTS:
        path = Path(str(split.ids)) / f"{part}.txt"
        names = [line for line in path.read_text(encoding="utf-8").split("\n") if line]
        if absent := [name for name in names if name not in known]:
            raise ValueError(
                f"{path}: {len(absent)} ids are not in the files. Received: {absent[0]!r}"
            )
        parts.append([known[name] for name in names])
    return parts[0], parts[1], parts[2]


def _by_sentence(given: Given, split: Split) -> Parts:
    """Divides the test file: half of its sentences are validated on, half are tested."""
    test = [_with_sentence(example) for example in given.located(given.test) or ()]
    rest, validation = split_by_group(test, 0.5, split.seed)
    return given.train, validation, rest


def _by_group(given: Given, split: Split, key: Callable[[Example], str] = group_of) -> Parts:
    """Splits validation groups off the training file, and test groups if there is no test file."""
    train, test, share = given.train, given.located(given.test), 0.0
    if test is None and split.test_share and given.source.train is not None:
        share = split.test_share
        groups = {example.id: key(example) for example in given.rows}
        key = lambda e: groups[e.id]  # `spans` leaves one of several passages  # noqa: E731
        test = given.located(split_by_group(given.rows, share, split.seed, key=key)[1])
        train = split_by_group(train, share, split.seed, key=key)[0]
    train, held_out = split_by_group(train, share + split.validation_share, split.seed, key=key)
    return train, held_out, test


def _by_example(given: Given, split: Split) -> Parts:
    """Splits single questions as `_by_group` splits groups."""
    return _by_group(given, split, lambda example: example.id)


STRATEGIES: dict[str, Callable[[Given, Split], Parts]] = {
    "ids": _by_ids,
    "sentence": _by_sentence,
    "group": _by_group,
    "example": _by_example,
}


def _with_sentence(example: Example) -> Example:
    """Returns the example with the sentence of its answer as its group, if it has a span."""
    if not example.spans:
        return example
    span = example.spans[0]
    passage, start = example.passages[span.passage], span.start
    around = [span for span in sentences(passage) if span[0] <= start < span[1]]
    first, end = around[0] if around else (0, len(passage))
    return replace(example, group=f"{example.group}\t{passage[first:end]}")
