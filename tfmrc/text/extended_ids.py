"""Ids of what can be generated or copied."""

import tensorflow as tf

from tfmrc.ops.ids import NUM_SPECIAL, UNK

NOT_FOUND = tf.int32.max


def first_positions(group: tf.Tensor, words: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """The smallest position of each word within its group.

    Equal words are found by hashing, once over the words and once over the pairs of group and
    word, so time and memory grow with N alone.

    Args:
        group: int `[N]`, for instance the example that the word belongs to.
        words: string `[N]`.
        positions: int32 `[N]`.

    Returns:
        int32 `[N]`.

    Example:
        >>> from tfmrc.text.extended_ids import first_positions
        >>> first_positions([0, 0, 0, 1], ["a", "b", "a", "b"], [2, 3, 5, 9]).numpy()
        array([2, 3, 2, 9], dtype=int32)
    """
    distinct, word = tf.unique(tf.convert_to_tensor(words, tf.string), out_idx=tf.int64)
    pair = tf.cast(group, tf.int64) * tf.size(distinct, tf.int64) + word
    pairs, index = tf.unique(pair)
    positions = tf.cast(positions, tf.int32)
    return tf.gather(tf.math.unsorted_segment_min(positions, index, tf.size(pairs)), index)


def is_generable(input_ids: tf.Tensor, generation_vocabulary_size: int) -> tf.Tensor:
    """Whether the word itself, and not only a copy of it, can be generated; bool, same shape."""
    return (input_ids >= NUM_SPECIAL) & (input_ids < generation_vocabulary_size)


def source_extended_ids(
    input_ids: tf.Tensor,
    words: tf.Tensor,
    group: tf.Tensor,
    positions: tf.Tensor,
    generation_vocabulary_size: int,
) -> tf.Tensor:
    """Extended ids of source words: the input id if it is generable, else the first occurrence.

    Args:
        input_ids: int32 `[N]`.
        words: string `[N]` in compared form.
        group: int `[N]`, the example of each word.
        positions: int32 `[N]`, the word's position in its example's source.
        generation_vocabulary_size: G; a copied word's id is G plus the position of the first
            occurrence in the example.

    Returns:
        int32 `[N]`.

    Example:
        The words 4 and 5 are generable, "k2" is unknown and stands twice:

        >>> from tfmrc.text.extended_ids import source_extended_ids
        >>> source_extended_ids(
        ...     [4, 1, 5, 1], ["the", "k2", "is", "k2"], [0, 0, 0, 0], [0, 1, 2, 3], 6
        ... ).numpy()
        array([4, 7, 5, 7], dtype=int32)
    """
    input_ids = tf.convert_to_tensor(input_ids, tf.int32)
    copied = tf.where(~is_generable(input_ids, generation_vocabulary_size))
    first = first_positions(
        tf.gather_nd(group, copied), tf.gather_nd(words, copied), tf.gather_nd(positions, copied)
    )
    return tf.tensor_scatter_nd_update(input_ids, copied, generation_vocabulary_size + first)


def target_extended_ids(
    input_ids: tf.Tensor,
    words: tf.Tensor,
    group: tf.Tensor,
    source_extended_ids: tf.Tensor,
    source_words: tf.Tensor,
    generation_vocabulary_size: int,
) -> tf.Tensor:
    """Extended ids of target words: generable, else copied from the source, else `UNK`.

    Args:
        input_ids: int32 `[N]` of the target words.
        words: string `[N]` in compared form.
        group: int64 `[N]`, the example of each word, a row of the two following tensors.
        source_extended_ids: int32 `[B, S]`; places that cannot be copied hold a smaller number
            than G.
        source_words: string `[B, S]` in compared form.
        generation_vocabulary_size: G.

    Returns:
        int32 `[N]`.

    Example:
        >>> from tfmrc.text.extended_ids import target_extended_ids
        >>> target_extended_ids(
        ...     [4, 1, 1], ["the", "k2", "everest"], [0, 0, 0], [[4, 7, 5, 7]],
        ...     [["the", "k2", "is", "k2"]], 6
        ... ).numpy()
        array([4, 7, 1], dtype=int32)
    """
    input_ids = tf.convert_to_tensor(input_ids, tf.int32)
    source_extended_ids = tf.convert_to_tensor(source_extended_ids, tf.int32)
    size = generation_vocabulary_size
    copied = tf.where(~is_generable(input_ids, size))
    places = tf.where(source_extended_ids >= size)
    offered = tf.gather_nd(source_extended_ids, places)
    first = first_positions(
        tf.concat([tf.gather_nd(tf.cast(group, tf.int64), copied), places[:, 0]], axis=0),
        tf.concat([tf.gather_nd(words, copied), tf.gather_nd(source_words, places)], axis=0),
        tf.concat([tf.fill(tf.shape(copied)[:1], NOT_FOUND), offered], axis=0),
    )[: tf.shape(copied)[0]]
    result = tf.where(first == NOT_FOUND, UNK, first)
    return tf.tensor_scatter_nd_update(input_ids, copied, result)
