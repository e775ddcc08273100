"""Word counts of a stream of records, by the graph tokenizer."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

import tensorflow as tf

from tfmrc.text.rows import row_of_values
from tfmrc.text.words.tokenizer import Tokenizer


class Record(Protocol):
    """The fields of an example that are counted, such as those of `tfmrc.data.Example`."""

    @property
    def question(self) -> str: ...

    @property
    def passages(self) -> tuple[str, ...]: ...

    @property
    def answers(self) -> Mapping[str, tuple[str, ...]]: ...


class WordCounter:
    """Counts words in the tokenizer's compared form.

    Strings are buffered until there are `batch_size` distinct ones, which are tokenized in one
    call. A repeated string is tokenized once per batch and weighted by its count.

    Args:
        batch_size: int. Number of distinct strings per call. Default: 2048.

    Example:
        >>> from tfmrc.text.words.counting import WordCounter
        >>> counter = WordCounter()
        >>> counter.add("The cat. the Cat")
        >>> counter.most_common()
        ['cat', 'the', '.']
    """

    def __init__(self, batch_size: int = 2048):
        self._batch_size = batch_size
        self._waiting: Counter[str] = Counter()
        self._counts: Counter[bytes] = Counter()
        self.num_records = 0

    def add(self, text: str) -> None:
        """Counts the words of a string."""
        self._waiting[text] += 1
        if len(self._waiting) >= self._batch_size:
            self._count_waiting()

    def add_records(self, records: Iterable[Record]) -> None:
        """Counts the words of the questions, passages and answers of records."""
        for record in records:
            self.num_records += 1
            self.add(record.question)
            for passage in record.passages:
                self.add(passage)
            for answers in record.answers.values():
                for answer in answers:
                    self.add(answer)

    @property
    def counts(self) -> Mapping[bytes, int]:
        """Number of occurrences of each word (UTF-8)."""
        self._count_waiting()
        return self._counts

    def most_common(self, min_count: int = 1) -> list[str]:
        """Returns the words by decreasing count; equal counts are in code point order.

        Args:
            min_count: int. Words with a smaller count are left out. Default: 1.
        """
        words = [(-count, word) for word, count in self.counts.items() if count >= min_count]
        return [word.decode() for _, word in sorted(words)]

    def _count_waiting(self) -> None:
        if self._waiting:
            words, counts = _weighted_counts(
                tf.constant(list(self._waiting)),
                tf.constant(list(self._waiting.values()), tf.int64),
            )
            for word, count in zip(words.numpy(), counts.numpy().tolist(), strict=True):
                self._counts[word] += count
            self._waiting.clear()


@tf.function(
    input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)],
    autograph=False,
)
def _weighted_counts(strings, weights):
    compared = Tokenizer().tokenize(strings).compared
    words, index = tf.unique(compared.values)
    weight = tf.gather(weights, row_of_values(compared))
    return words, tf.math.unsorted_segment_sum(weight, index, tf.size(words))
