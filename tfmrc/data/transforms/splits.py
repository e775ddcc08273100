"""Splits by article, document or story, the same at every run and in every order."""

import hashlib
from collections.abc import Iterable, Iterator

from tfmrc.data.example import Example
from tfmrc.data.stream import ExampleStream, Report


def split_by_group(
    examples: Iterable[Example], share: float, seed: int = 0
) -> tuple[ExampleStream, ExampleStream]:
    """Split off a share of the groups: no article has examples on both sides.

    Whether a group is split off depends on its name and the seed alone, not on the other
    examples or their order, so the share is met on average; a larger share keeps all groups that
    a smaller one split off. An example without a group is its own group, by its id.

    Args:
        examples: the examples; read once for each of the two streams, so no iterator.
        share: share of the groups that is split off, for instance 0.1.
        seed: another seed chooses other groups.

    Returns:
        The rest and the examples that are split off: both can be read as often as ``examples``.

    Raises:
        ValueError: if ``share`` does not lie between 0 and 1, or ``examples`` is an iterator.

    Example:

    >>> examples = [Example(str(n), "Why?", ("So.",), group=f"g{n % 5}") for n in range(20)]
    >>> train, early = split_by_group(examples, 0.2, seed=21)
    >>> sorted({e.group for e in train}), sorted({e.group for e in early})
    (['g0', 'g2', 'g3', 'g4'], ['g1'])
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share lies between 0 and 1. Received: share={share!r}")
    if isinstance(examples, Iterator):
        raise ValueError(
            "examples must be readable twice: a list or a reader's stream. "
            f"Received: examples={examples!r}"
        )

    def part(selected: bool) -> ExampleStream:
        def read(report: Report) -> Iterator[Example]:
            try:
                for example in examples:
                    group = example.id if example.group is None else example.group
                    if (group_number(group, seed) < share) == selected:
                        yield example
            finally:
                if isinstance(examples, ExampleStream):
                    report.take(examples.report)

        return ExampleStream(read)

    return part(False), part(True)


def group_number(group: str, seed: int = 0) -> float:
    """A number from 0 to below 1 that belongs to a group's name and a seed."""
    digest = hashlib.sha256(f"{seed}\t{group}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / (1 << 56)
