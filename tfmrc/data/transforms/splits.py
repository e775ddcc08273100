"""Reproducible splits by article, document or story."""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from tfmrc.data.example import Example
from tfmrc.data.stream import Account, ExampleStream

Kind = TypeVar("Kind")


def split_by_group(
    examples: Iterable[Example],
    share: float,
    seed: int = 0,
    *,
    key: Callable[[Example], str] | None = None,
) -> tuple[ExampleStream, ExampleStream]:
    """Splits examples by group, so that no group has examples in both parts.

    The part of a group depends only on its name and the seed, not on other examples or their
    order. The share is therefore met on average, and of few groups a part can be empty. A larger
    share contains all groups of a smaller one. Examples without a group and with the same single
    passage are one group; any other example without a group is its own, identified by its id.

    Args:
        examples: iterable of `Example` that can be read twice, not an iterator.
        share: float between 0 and 1. Share of the groups in the second part.
        seed: int. Seed of the selection. Default: 0.
        key: function from an example to the name of its group. Default: None, as described.

    Returns:
        Two streams, the rest and the selected share. Both can be read as often as ``examples``.

    Raises:
        ValueError: ``examples`` is an iterator.

    Example:

    >>> examples = [Example(str(n), "Why?", ("So.",), group=f"g{n % 5}") for n in range(20)]
    >>> train, early = split_by_group(examples, 0.2, seed=21)
    >>> sorted({e.group for e in train}), sorted({e.group for e in early})
    (['g0', 'g2', 'g3', 'g4'], ['g1'])
    """
    if isinstance(examples, Iterator):
        raise ValueError(
            "examples must be readable twice: a list or a reader's stream. "
            f"Received: examples={examples!r}"
        )

    name = group_of if key is None else key

    def part(selected: bool) -> ExampleStream:
        def read(account: Account) -> Iterator[Example]:
            try:
                for example in examples:
                    if (group_number(name(example), seed) < share) == selected:
                        yield example
            finally:
                if isinstance(examples, ExampleStream):
                    account.take(examples.account)

        return ExampleStream(read)

    return part(False), part(True)


def group_of(example: Example) -> str:
    """Returns the name of an example's group: its own, that of its only passage, or its id.

    Example:

    >>> examples = [Example(str(n), f"{n}?", (passage,)) for n, passage in enumerate("AAB")]
    >>> first, same, other = map(group_of, examples)
    >>> first == same, first == other
    (True, False)
    """
    if example.group is not None:
        return example.group
    if len(example.passages) == 1 and example.passages[0].strip():
        return f"passage {hashlib.sha256(example.passages[0].encode()).hexdigest()[:16]}"
    return example.id


def draw_by_id(items: Iterable[tuple[str, Kind]], limit: int, seed: int = 0) -> list[Kind]:
    """Returns the values of at most `limit` items, drawn by their ids alone, in their own order.

    Args:
        items: iterable of (id, value). Only the values drawn so far are held.
        limit: int. Number of values.
        seed: int. Seed of the draw. Default: 0.

    Example:

    >>> draw_by_id([(str(n), n) for n in range(50)], 3)
    [11, 28, 46]
    """
    numbered = (
        (group_number(name, seed), index, value) for index, (name, value) in enumerate(items)
    )
    first = heapq.nsmallest(limit, numbered, key=lambda item: item[:2])
    return [value for _, _, value in sorted(first, key=lambda item: item[1])]


def group_number(group: str, seed: int = 0) -> float:
    """Returns a number in [0, 1) that depends on a group's name and a seed."""
    digest = hashlib.sha256(f"{seed}\t{group}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / (1 << 56)
