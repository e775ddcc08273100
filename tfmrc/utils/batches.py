"""Items in batches."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batches_of(items: Iterable[Item], size: int | Callable[[], int]) -> Iterator[list[Item]]:
    """Yields items in batches, read on demand; a callable `size` returns that of the next batch.

    If the items raise an error, the items before it are yielded first, so that their results are
    not lost.

    Example:

    >>> from tfmrc.utils.batches import batches_of
    >>> list(batches_of("abc", 2))
    [['a', 'b'], ['c']]
    """
    stream, error = iter(items), None
    while error is None:
        batch: list[Item] = []
        try:
            batch.extend(islice(stream, size() if callable(size) else size))
        except Exception as raised:
            error = raised
        if batch:
            yield batch
        elif error is None:
            return
    raise error
