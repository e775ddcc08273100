"""Several streams of examples as one."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mixed:
    """Several streams of known lengths, evenly mixed, in the same order at every pass.

    Example:

    >>> list(Mixed(("abcd", "XY"), (4, 2)))
    ['a', 'X', 'b', 'c', 'Y', 'd']
    """

    streams: tuple[Iterable[Any], ...]
    lengths: tuple[int, ...]

    def __iter__(self) -> Iterator[Any]:
        sides = [
            _spread(number, stream, length)
            for number, (stream, length) in enumerate(zip(self.streams, self.lengths, strict=True))
        ]
        for _, _, item in heapq.merge(*sides, key=lambda entry: entry[:2]):
            yield item


def _spread(number: int, stream: Iterable[Any], length: int) -> Iterator[tuple[float, int, Any]]:
    """Yields the items of a stream with positions between 0 and 1, and the stream's number."""
    for index, item in enumerate(stream):
        yield (index + 0.5) / length, number, item
