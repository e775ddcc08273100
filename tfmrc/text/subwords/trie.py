"""Prefixes of strings, and chains of positions, in the graph."""

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

CODES = 1 << 21  # more than there are code points


class Trie:
    """The prefixes of some strings, walked from many characters at once.

    Nodes are numbered; 0 is the empty prefix. An edge is packed into one integer: that from node 3
    by `a` (97) is `3 * 2 ** 21 + 97`.

    Args:
        numbers: dict from str to int. The strings, each with a number.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.subwords.trie import Trie
        >>> trie = Trie({"ab": 7})
        >>> nodes = trie.child(tf.constant([0, 1]), tf.constant([97, 98]))
        >>> nodes.numpy(), trie.number(nodes).numpy()
        (array([1, 2], dtype=int32), array([-1,  7], dtype=int32))
    """

    def __init__(self, numbers: Mapping[str, int]):
        nodes: dict[str, int] = {"": 0}
        keys: list[int] = []
        for string in numbers:
            for size in range(1, len(string) + 1):
                prefix = string[:size]
                if prefix not in nodes:
                    nodes[prefix] = len(nodes)
                    keys.append(nodes[prefix[:-1]] * CODES + ord(prefix[-1]))
        order = np.argsort(keys)
        with tf.init_scope():
            self._keys = tf.constant(
                [*np.array(keys, np.int64)[order], np.iinfo(np.int64).max], tf.int64
            )
            self._children = tf.constant([*(order + 1), 0], tf.int32)
            self._numbers = tf.constant([numbers.get(prefix, -1) for prefix in nodes], tf.int32)

    def child(self, nodes: tf.Tensor, codes: tf.Tensor) -> tf.Tensor:
        """Returns the nodes that follow by code points, int32 `[N]`; 0 where there is none."""
        key = tf.cast(nodes, tf.int64) * CODES + tf.cast(codes, tf.int64)
        found = tf.searchsorted(self._keys, key)
        return tf.where(tf.gather(self._keys, found) == key, tf.gather(self._children, found), 0)

    def number(self, nodes: tf.Tensor) -> tf.Tensor:
        """Returns the numbers of the strings at nodes; -1 where a prefix is not one of them."""
        return tf.gather(self._numbers, nodes)


def reached(following: tf.Tensor, starts: tf.Tensor) -> tf.Tensor:
    """Returns which positions are on the chains from some positions, after few rounds.

    Args:
        following: int32 `[M]`, the next position of each one; M ends a chain.
        starts: int32 `[K]`.

    Returns:
        bool `[M]`.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.subwords.trie import reached
        >>> reached(tf.constant([2, 2, 4, 4]), tf.constant([0])).numpy().tolist()
        [True, False, True, False]
    """
    nowhere = tf.size(following)
    following = tf.concat([following, [nowhere]], axis=0)
    on_chain = tf.scatter_nd(starts[:, None], tf.ones_like(starts), tf.shape(following))

    # After n rounds, over 2^n - 1 positions.
    def step(following, on_chain):
        on_chain = tf.tensor_scatter_nd_max(on_chain, following[:, None], on_chain)
        return tf.gather(following, following), on_chain

    _, on_chain = tf.while_loop(
        lambda following, _: tf.reduce_any(following < nowhere), step, (following, on_chain)
    )
    return on_chain[:-1] > 0
