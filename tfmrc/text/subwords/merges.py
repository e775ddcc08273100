"""The merges of byte pair encoding, in the graph."""

from collections.abc import Iterable, Mapping

import numpy as np
import tensorflow as tf


class Merges:
    """Merges neighbouring pieces, the pair with the lowest rank first, until no pair is known.

    All words are merged in parallel, one pair per word and step. A lookup table in the graph maps
    two ids to the rank of their merge.

    Args:
        ids: dict from piece to id.
        merges: iterable of str. Pairs of pieces `"a b"`, by rank.

    Raises:
        KeyError: If a merge is not in the vocabulary.

    Reference: Sennrich et al. 2016.
    """

    def __init__(self, ids: Mapping[str, int], merges: Iterable[str]):
        self._size = 1 + max(ids.values())
        keys, merged = [], []
        for merge in merges:
            left, _, right = merge.partition(" ")
            keys.append(ids[left] * self._size + ids[right])
            merged.append(ids[left + right])
        self._merged = np.array(merged or [0], np.int32)
        self._no_rank = len(keys)
        with tf.init_scope():
            self.ranks = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant(keys or [-2], tf.int64), tf.range(max(len(keys), 1), dtype=tf.int64)
                ),
                default_value=self._no_rank,
            )

    def pieces(
        self, first: tf.RaggedTensor, sizes: np.ndarray
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Returns the pieces of words, and their first and last bytes, int32 ragged `[U, ..]`.

        Args:
            first: int32 ragged `[U, ..]`, the pieces before merging.
            sizes: int array, the number of bytes of each piece.
        """
        ids = tf.RaggedTensor.from_tensor(self._merge(first.to_tensor(-1)), padding=-1)
        # The last byte of a piece: the sum of sizes up to it, less those of earlier words.
        lengths = tf.gather(sizes, ids.values)
        ends = tf.cumsum(lengths)
        before = tf.gather(tf.pad(ends, [[1, 0]]), ids.row_starts())  # [U]
        ends -= tf.gather(before, ids.value_rowids())
        return ids, ids.with_values(ends - lengths), ids.with_values(ends)

    def _merge(self, ids: tf.Tensor) -> tf.Tensor:
        """Merges pairs in int32 `[U, L]`, padded with -1, until no known pair remains.

        Two ids are packed into one key of the table of ranks, `left * size + right`: with 6 ids
        the pair (1, 2) has the key 8. With the merge `o w` at rank 0, `[o, w, l, -1]` becomes
        `[ow, l, -1, -1]` in one step: what follows the pair moves up by one column.
        """
        positions = tf.range(tf.shape(ids)[1])  # [L]

        def best_pair(ids):
            left, right = ids[:, :-1], ids[:, 1:]  # [U, L - 1]
            key = tf.cast(left, tf.int64) * self._size + tf.cast(right, tf.int64)
            rank = self.ranks.lookup(
                tf.where(right >= 0, key, tf.constant(-1, tf.int64))
            )  # [U, L-1]
            # One additional column, so that argmin is defined for words of one byte.
            rank = tf.pad(rank, [[0, 0], [0, 1]], constant_values=self._no_rank)
            return tf.argmin(rank, axis=1, output_type=tf.int32), tf.reduce_min(rank, axis=1)

        def step(ids, best, rank):
            known = (rank < self._no_rank)[:, None]  # [U, 1]
            merged = tf.gather(self._merged, tf.minimum(rank, len(self._merged) - 1))[:, None]
            best = best[:, None]
            shift = tf.cast(known & (positions > best), tf.int32)
            padded = tf.pad(ids, [[0, 0], [0, 1]], constant_values=-1)
            moved = tf.gather(padded, positions + shift, batch_dims=1)
            ids = tf.where(known & (positions == best), merged, moved)
            return (ids, *best_pair(ids))

        start = (ids, *best_pair(ids))
        return tf.while_loop(
            lambda ids, best, rank: tf.reduce_any(rank < self._no_rank),
            step,
            start,
            shape_invariants=(
                tf.TensorShape([None, None]),
                tf.TensorShape([None]),
                tf.TensorShape([None]),
            ),
        )[0]
