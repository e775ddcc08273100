"""Which records make up which batch: a function of seed and step alone."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from tfmrc.data.batching.training_example import Source, TrainingExample, records

WINDOW = 100
"""Batches of a window: inside it, records are shuffled and sorted by length."""

STEP = 64
"""Characters of question and passage that make a difference; below it, the order is random."""


class BatchSampler:
    """Lists of records, the same for the same seed and pass.

    A pass is cut into windows of ``window`` batches. With ``shuffle``, a list is put in random
    order as a whole, a stream within each window. With ``bucket``, records of a window are sorted
    by length (in steps of 64 characters, of the source alone) before they are cut into batches,
    and with ``shuffle`` the batches of a window are put in random order. What is left over at the
    end of a pass is a random choice (the last ones without ``shuffle``), not the longest.

    Args:
        examples: a list of examples or records, a stream that can be read again, a function that
            gives them anew, or an iterator, which is read into memory.
        styles: the styles to answer in.
        batch_size: records of a batch.
        shuffle: whether the order is random.
        seed: of the order.
        bucket: whether records of like length share a batch.
        drop_remainder: whether a last, smaller batch is left out.
        window: batches of a window.

    Raises:
        ValueError: if a size is not positive or there are no styles.

    Example:

    >>> from tfmrc.data.example import Example
    >>> examples = [Example(str(n), "?" * n, ()) for n in range(1, 5)]
    >>> batches = BatchSampler(examples, ["qa"], 2, shuffle=True, seed=1)
    >>> [[record.example.id for record in batch] for batch in batches.of_pass(0)]
    [['1', '2'], ['3', '4']]
    """

    def __init__(
        self,
        examples: Source,
        styles: Sequence[str],
        batch_size: int,
        *,
        shuffle: bool = False,
        seed: int = 0,
        bucket: bool = True,
        drop_remainder: bool = False,
        window: int = WINDOW,
    ) -> None:
        for name, value in (("batch_size", batch_size), ("window", window)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1. Received: {name}={value}")
        if isinstance(styles, str) or not styles:
            raise ValueError(f"styles is a sequence of names. Received: styles={styles!r}")
        self._styles = tuple(styles)
        self._batch_size, self._size = batch_size, batch_size * window
        self._shuffle, self._seed, self._bucket = shuffle, seed, bucket
        self._drop_remainder = drop_remainder
        self._examples = examples
        self._list: list[TrainingExample] | None = None
        if isinstance(examples, Sequence | Iterator):
            self._list = list(records(examples, self._styles))

    @property
    def num_steps(self) -> int | None:
        """Batches of a pass; ``None`` for a stream, which would have to be read for that."""
        return None if self._list is None else self._steps(len(self._list))

    def of_pass(self, number: int, start: int = 0) -> Iterator[list[TrainingExample]]:
        """The batches of a pass, from number ``start`` on."""
        first = start // (self._size // self._batch_size)
        start -= first * (self._size // self._batch_size)
        for index, window in self._windows(number, first):
            batches = self._cut(window, np.random.default_rng([self._seed, number, index]))
            yield from islice(batches, start, None)
            start = 0

    def forever(self, start: int = 0) -> Iterator[list[TrainingExample]]:
        """Pass after pass, from step ``start`` on; ends if a pass holds no batch."""
        number = 0
        if steps := self.num_steps:
            number, start = divmod(start, steps)
        while True:
            count = 0
            for batch in self.of_pass(number):
                count += 1
                if count > start:
                    yield batch
            if not count:
                return
            start = max(0, start - count)
            number += 1

    def _steps(self, count: int) -> int:
        size = self._batch_size
        return count // size if self._drop_remainder else -(-count // size)

    def _windows(self, number: int, first: int) -> Iterator[tuple[int, list[TrainingExample]]]:
        """The windows of a pass from number ``first`` on, with their numbers."""
        if self._list is not None:
            order = np.arange(len(self._list))
            if self._shuffle:
                np.random.default_rng([self._seed, number]).shuffle(order)
            for begin in range(first * self._size, len(order), self._size):
                selected = order[begin : begin + self._size]
                yield begin // self._size, [self._list[place] for place in selected]
            return
        examples = self._examples() if callable(self._examples) else self._examples
        stream = iter(records(examples, self._styles))
        index = 0
        while window := list(islice(stream, self._size)):
            if index >= first:
                yield index, window
            index += 1

    def _cut(
        self, window: list[TrainingExample], rng: np.random.Generator
    ) -> Iterable[list[TrainingExample]]:
        size = self._batch_size
        order = np.arange(len(window))
        if self._shuffle:
            rng.shuffle(order)
        whole = len(order) - len(order) % size
        remainder = order[whole:]
        order = order[:whole]
        if self._bucket:
            # By the source alone: batches sorted by their answers too would hold one style, or
            # nothing but unanswerable questions, and the classifier would learn the batch.
            lengths = np.array([window[place].length // STEP for place in order], np.int64)
            order = order[np.argsort(lengths, kind="stable")]
        batches = order.reshape(-1, size)
        if self._shuffle:
            rng.shuffle(batches)
        selected = list(batches)
        if len(remainder) and not self._drop_remainder:
            selected.append(remainder)
        return [[window[place] for place in batch] for batch in selected]
