"""The Unigram model of SentencePiece: the most probable pieces of words, in the graph."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from tfmrc.text.subwords.trie import Trie, reached

UNKNOWN_PENALTY = 10.0


class Unigram:
    """Splits words into the pieces with the greatest sum of scores.

    The sums are computed in float64 and in the order of the package `tokenizers`, so that sums
    that are equal or nearly equal have the same winner. A character without a piece of its own is
    unknown; its score is 10 less than the lowest one. Unknown characters in a row are one piece.

    Args:
        vocabulary: list of (str, float). The pieces with their scores; the index is the id.
        unknown_id: int. Id of unknown characters.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.subwords.unigram import Unigram
        >>> model = Unigram([("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("ab", -2.5)], 0)
        >>> codes = tf.ragged.constant([[ord(letter) for letter in "babcc"]])
        >>> ids, starts, ends = model.split(codes)
        >>> print(ids.to_list(), starts.to_list(), ends.to_list())
        [[2, 3, 0]] [[0, 1, 3]] [[1, 3, 5]]

    Reference: Kudo 2018.
    """

    def __init__(self, vocabulary: Sequence[tuple[str, float]], unknown_id: int):
        self._unknown_id = unknown_id
        scores = np.array([score for _, score in vocabulary], np.float64)
        self._length = max(len(piece) for piece, _ in vocabulary)
        ids = {piece: index for index, (piece, _) in enumerate(vocabulary)}
        self._trie = Trie(ids)
        with tf.init_scope():
            self._scores = tf.constant(scores)
            self._unknown_score = tf.constant(scores.min() - UNKNOWN_PENALTY)

    def split(
        self, words: tf.RaggedTensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Returns the pieces of words.

        Args:
            words: int32 ragged `[U, ..]`, code points.

        Returns:
            Ids, first characters and ends of the pieces, int32 ragged `[U, ..]`.
        """
        codes, row = words.values, tf.cast(words.value_rowids(), tf.int32)
        lengths = tf.cast(words.row_lengths(), tf.int32)
        ending = self._ending(codes, row)  # [M, K]
        ids = self._trie.number(ending)  # -1 where the string is not a piece
        scores = tf.gather(self._scores, tf.maximum(ids, 0))
        # A character without a piece is unknown. Pieces of one character are in the last column.
        unknown = tf.where(ids[:, -1:] < 0, self._unknown_score, scores[:, -1:])
        scores = tf.where(ids >= 0, scores, -np.inf)
        scores = tf.concat([scores[:, :-1], unknown], axis=1)
        ids = tf.where(ids >= 0, ids, self._unknown_id)
        sizes = self._best(scores, words.row_starts(), lengths)  # [M]

        # === Back from the ends of words ===
        # `before` is the last character of the piece before the one that ends at a character; for
        # `b|ab|cc` it is [-, 0, 0, 2, 3], and the path from the last character is 4, 3, 2, 0.
        first = tf.cast(words.row_starts(), tf.int32)  # [U]
        starts = tf.range(tf.size(codes)) - sizes + 1
        is_first = starts == tf.gather(first, row)
        before = tf.where(is_first, tf.size(codes), starts - 1)
        on_path = reached(before, (first + lengths - 1)[lengths > 0])
        # The last and the first character of each piece, [P].
        ends = tf.cast(tf.where(on_path)[:, 0], tf.int32)
        column = tf.shape(ids)[1] - tf.gather(sizes, ends)
        ids = tf.gather(tf.gather(ids, ends), column, batch_dims=1)
        begins, row = tf.gather(starts, ends), tf.gather(row, ends)
        # Unknown characters in a row are one piece.
        unknown_id = ids == self._unknown_id
        joined = unknown_id[1:] & unknown_id[:-1] & (row[1:] == row[:-1])
        joined = tf.pad(joined, [[1, 1]])
        is_first, is_last = ~joined[: tf.size(ids)], ~joined[1 : tf.size(ids) + 1]
        row, ids = row[is_first], ids[is_first]
        shift = tf.gather(first, row)
        return tuple(
            tf.RaggedTensor.from_value_rowids(
                values, tf.cast(row, tf.int64), words.nrows(), validate=False
            )
            for values in (ids, begins[is_first] - shift, ends[is_last] + 1 - shift)
        )

    def _ending(self, codes: tf.Tensor, row: tf.Tensor) -> tf.Tensor:
        """Returns the trie nodes of the strings that end at each character, longest first.

        int32 `[M, K]`; 0 where the trie has no such node.
        """
        size = tf.size(codes)
        node = tf.zeros([size], tf.int32)
        index = tf.range(size)
        columns = []
        for length in range(self._length):
            # From each character on: the node after `length + 1` characters.
            end = tf.minimum(index + length, size - 1)
            inside = (index + length < size) & (tf.gather(row, end) == row)
            child = self._trie.child(node, tf.gather(codes, end))
            node = tf.where(inside & ((node > 0) | (length == 0)), child, 0)
            columns.append(tf.pad(node, [[length, 0]])[:size])
        return tf.stack(columns[::-1], axis=1)

    def _best(self, scores: tf.Tensor, first: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        """Returns the size of the last piece of the best path to each character, int32 `[M]`.

        Args:
            scores: float64 `[M, K]`, of the pieces of K, .., 1 characters that end at each one.
            first: int64 `[U]`, the first character of each word.
            lengths: int32 `[U]`.
        """
        width = tf.shape(scores)[1]
        order = tf.argsort(lengths, direction="DESCENDING")
        first = tf.gather(tf.cast(first, tf.int32), order)
        num_words = tf.size(lengths)
        # Words with more than n characters.
        longer = num_words - tf.searchsorted(
            tf.sort(lengths), tf.range(tf.reduce_max(tf.pad(lengths, [[0, 1]]))), side="right"
        )
        # The best sums at the last K characters of each word, of which the first has none before.
        before = tf.concat(
            [
                tf.fill([num_words, width - 1], tf.constant(-np.inf, tf.float64)),
                tf.zeros([num_words, 1], tf.float64),
            ],
            axis=1,
        )

        def step(number, before, sizes):
            count = longer[number]
            sums = before[:count] + tf.gather(scores, first[:count] + number)  # [count, K]
            best = tf.argmax(sums, axis=1, output_type=tf.int32)
            score = tf.gather(sums, best, batch_dims=1)
            before = tf.concat([before[:count, 1:], score[:, None]], axis=1)
            return number + 1, before, sizes.write(number + 1, width - best)

        # The sizes are put in place once: an update of all of them per step would be quadratic.
        # The first element is empty, because no elements cannot be joined.
        steps = tf.size(longer)
        sizes = tf.TensorArray(tf.int32, steps + 1, infer_shape=False, element_shape=[None])
        sizes = sizes.write(0, tf.zeros([0], tf.int32))
        _, _, sizes = tf.while_loop(
            lambda number, *_: number < steps,
            step,
            (0, before, sizes),
            shape_invariants=(
                tf.TensorShape([]),
                tf.TensorShape([None, None]),
                tf.TensorShape(None),
            ),
        )
        number = tf.repeat(tf.range(steps), longer)
        word = tf.range(tf.size(number)) - tf.gather(tf.cumsum(longer) - longer, number)
        position = tf.gather(first, word) + number
        return tf.scatter_nd(position[:, None], sizes.concat(), tf.shape(scores)[:1])
