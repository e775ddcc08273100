"""Examples that are read again in every pass, or kept, or mixed from several streams."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tfmrc.data import Example


class Stream:
    """Examples that every pass reads again, or only the first one.

    Args:
        read: callable. Returns the examples.
        keep: bool. Whether the first whole pass keeps them. Default: False.
    """

    def __init__(self, read: Callable[[], Iterable[Example]], keep: bool = False) -> None:
        self.read = read
        self.keep = keep
        self.kept: list[Example] | None = None

    def __iter__(self) -> Iterator[Example]:
        if self.kept is not None:
            yield from self.kept
            return
        kept = []
        for example in self.read():
            if self.keep:
                kept.append(example)
            yield example
        if self.keep:
            self.kept = kept


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
