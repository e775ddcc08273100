"""Exact match of words between texts."""

import tensorflow as tf


def distinct_pairs(group: tf.Tensor, words: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Numbers the distinct pairs of a group and a word.

    Words are hashed, and then pairs, so time and memory are linear in N. With 2 distinct words the
    word 1 of group 3 is packed into the integer `3 * 2 + 1`.

    Args:
        group: int `[N]`, such as the index of the word's example.
        words: string `[N]`.

    Returns:
        int32 `[N]`, the number of each pair, and their count.

    Example:
        >>> from tfmrc.text.words.matching import distinct_pairs
        >>> distinct_pairs([0, 0, 1, 0], ["a", "b", "a", "a"])[0].numpy()
        array([0, 1, 2, 0], dtype=int32)
    """
    distinct, word = tf.unique(tf.convert_to_tensor(words, tf.string), out_idx=tf.int64)
    pairs, index = tf.unique(tf.cast(group, tf.int64) * tf.size(distinct, tf.int64) + word)
    return index, tf.size(pairs)


def occurs_in_group(words: tf.Tensor, group: tf.Tensor, wanted: tf.Tensor) -> tf.Tensor:
    """Returns True where a word equals a wanted word of its group.

    Args:
        words: string `[N]`.
        group: int `[N]`, such as the index of the word's example.
        wanted: bool `[N]`, such as the words of questions.

    Returns:
        bool `[N]`.

    Example:
        >>> from tfmrc.text.words.matching import occurs_in_group
        >>> occurs_in_group(["owl", "an", "owl", "owl"], [0, 0, 0, 1], [True, False, False, False])
        <tf.Tensor: shape=(4,), dtype=bool, numpy=array([ True, False,  True, False])>

    Reference: Liu et al. 2018 (SAN), section 2, san-02; Chen et al. 2017.
    """
    index, count = distinct_pairs(group, words)
    result = tf.math.unsorted_segment_max(tf.cast(wanted, tf.int32), index, count)
    return tf.gather(result, index) > 0  # san-02


def occurs_in_other(words: tf.Tensor, group: tf.Tensor, first: tf.Tensor) -> tf.Tensor:
    """Returns True where a word equals a word of the other text of its group.

    Args:
        words: string `[N]`.
        group: int `[N]`, such as the index of the word's example.
        first: bool `[N]`, True for the words of one text of the group, False for the other's.

    Returns:
        bool `[N]`.

    Example:
        >>> from tfmrc.text.words.matching import occurs_in_other
        >>> occurs_in_other(["an", "an", "owl", "owl"], [0] * 4, [True, True, True, False])
        <tf.Tensor: shape=(4,), dtype=bool, numpy=array([False, False,  True,  True])>
    """
    first = tf.convert_to_tensor(first, tf.bool)
    in_first = occurs_in_group(words, group, first)
    return tf.where(first, occurs_in_group(words, group, ~first), in_first)
