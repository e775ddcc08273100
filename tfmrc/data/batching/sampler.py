"""Assignment of records to batches, a function of seed and step only."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from tfmrc.data.batching.training_example import Examples, TrainingExample, records

WINDOW = 100
"""Number of batches per window, within which records are shuffled and sorted by length."""

STEP = 64
"""Width of a length bucket, in characters of question and passage."""


class BatchSampler:
    """Groups records into batches, reproducibly for a seed and a pass.

    A pass is divided into windows of ``window`` batches. With ``shuffle``, a list is shuffled as a
    whole and a stream within each window. With ``bucket``, the records of a window are sorted by
    length (of the source only, in steps of 64 characters) before they are divided into batches;
    with ``shuffle``, the batches of a window are then shuffled. The last, smaller batch is a random
    choice of records (the last ones without ``shuffle``), not the longest ones.

    Args:
        examples: list of examples or records, re-iterable stream, callable that returns an
            iterable, or iterator. An iterator is read into memory.
        styles: sequence of str. The answer styles.
        batch_size: int. Number of records per batch.
        shuffle: bool. Whether to shuffle the records. Default: False.
        seed: int. Seed of the shuffling. Default: 0.
        bucket: bool. Whether to batch records of similar lengths together. Default: True.
        drop_remainder: bool or None. Whether to drop a last, smaller batch; None to drop it unless
            it is the only one of a list. Default: False.
        window: int. Number of batches per window. Default: 100.

    Example:

    >>> from tfmrc.data.example import Example
    >>> examples = [Example(str(n), "?" * n, ()) for n in range(1, 5)]
    >>> batches = BatchSampler(examples, ["qa"], 2, shuffle=True, seed=1)
    >>> [[record.example.id for record in batch] for batch in batches.of_pass(0)]
    [['1', '2'], ['3', '4']]
    """

    def __init__(
        self,
        examples: Examples,
        styles: Sequence[str],
        batch_size: int,
        *,
        shuffle: bool = False,
        seed: int = 0,
        bucket: bool = True,
        drop_remainder: bool | None = False,
        window: int = WINDOW,
    ) -> None:
        self._styles = tuple(styles)
        self._batch_size, self._size = batch_size, batch_size * window
        self._shuffle, self._seed, self._bucket = shuffle, seed, bucket
        self._examples = examples
        self._list: list[TrainingExample] | None = None
        if isinstance(examples, Sequence | Iterator):
            self._list = list(records(examples, self._styles))
        if drop_remainder is None:
            drop_remainder = self._list is None or len(self._list) >= batch_size
        self._drop_remainder = drop_remainder

    @property
    def num_steps(self) -> int | None:
        """Number of batches per pass; None for a stream, whose length is unknown."""
        if self._list is None:
            return None
        steps, rest = divmod(len(self._list), self._batch_size)
        return steps if self._drop_remainder else steps + (rest > 0)

    def of_pass(self, number: int, start: int = 0) -> Iterator[list[TrainingExample]]:
        """Yields the batches of a pass, beginning with batch ``start``."""
        first, start = divmod(start, self._size // self._batch_size)
        for index, window in self._windows(number, first):
            batches = self._cut(window, np.random.default_rng([self._seed, number, index]))
            yield from islice(batches, start, None)
            start = 0

    def forever(self, start: int = 0) -> Iterator[list[TrainingExample]]:
        """Yields the batches of all passes from step ``start`` on; ends if a pass has no batch."""
        number = 0
        if steps := self.num_steps:  # of a list: the batches before are not built
            number, start = divmod(start, steps)
            yield from self.of_pass(number, start)
            number, start = number + 1, 0
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

    def _windows(self, number: int, first: int) -> Iterator[tuple[int, list[TrainingExample]]]:
        """Yields the index and the records of each window, beginning with window ``first``."""
        if self._list is not None:
            order = np.arange(len(self._list))
            if self._shuffle:
                np.random.default_rng([self._seed, number]).shuffle(order)
            for begin in range(first * self._size, len(order), self._size):
                selected = order[begin : begin + self._size]
                yield begin // self._size, [self._list[index] for index in selected]
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
            # Sorted by the source only: sorting by the answer too would give batches of one style
            # or of unanswerable questions only, and the classifier would learn from the batch.
            lengths = np.array([window[index].length // STEP for index in order], np.int64)
            order = order[np.argsort(lengths, kind="stable")]
        batches = order.reshape(-1, size)
        if self._shuffle:
            rng.shuffle(batches)
        selected = list(batches)
        if len(remainder) and not self._drop_remainder:
            selected.append(remainder)
        return [[window[index] for index in batch] for batch in selected]
