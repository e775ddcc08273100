"""Extended ids: ids of words that can be generated or copied."""

import tensorflow as tf

from tfmrc.ops.ids import NUM_SPECIAL, UNK
from tfmrc.text.words.matching import distinct_pairs

_NOT_IN_SOURCE = tf.int32.max


def first_in_group(group: tf.Tensor, words: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """Returns the smallest position of each word within its group.

    Time and memory are linear in N.

    Args:
        group: int `[N]`, such as the index of the word's example.
        words: string `[N]`.
        positions: int32 `[N]`.

    Returns:
        int32 `[N]`.

    Example:
        >>> from tfmrc.text.extended_ids import first_in_group
        >>> first_in_group([0, 0, 0, 1], ["a", "b", "a", "b"], [2, 3, 5, 9]).numpy()
        array([2, 3, 2, 9], dtype=int32)
    """
    index, count = distinct_pairs(group, words)
    positions = tf.cast(positions, tf.int32)
    return tf.gather(tf.math.unsorted_segment_min(positions, index, count), index)


def is_generable(input_ids: tf.Tensor, generation_vocabulary_size: int) -> tf.Tensor:
    """Returns True where a word can be generated, not only copied; bool of the same shape."""
    return (input_ids >= NUM_SPECIAL) & (input_ids < generation_vocabulary_size)


def source_extended_ids(
    input_ids: tf.Tensor,
    words: tf.Tensor,
    group: tf.Tensor,
    positions: tf.Tensor,
    generation_vocabulary_size: int,
) -> tf.Tensor:
    """Returns the extended ids of source words.

    A generable word keeps its input id. Another word gets G plus its first position.

    Args:
        input_ids: int32 `[N]`.
        words: string `[N]`, in compared form.
        group: int `[N]`, the example of each word.
        positions: int32 `[N]`, the word's position in its example's source.
        generation_vocabulary_size: int. G.

    Returns:
        int32 `[N]`.

    Example:
        The words 4 and 5 are generable; "k2" is unknown and occurs twice:

        >>> from tfmrc.text.extended_ids import source_extended_ids
        >>> source_extended_ids(
        ...     [4, 1, 5, 1], ["the", "k2", "is", "k2"], [0, 0, 0, 0], [0, 1, 2, 3], 6
        ... ).numpy()
        array([4, 7, 5, 7], dtype=int32)
    """
    input_ids = tf.convert_to_tensor(input_ids, tf.int32)
    copied = tf.where(~is_generable(input_ids, generation_vocabulary_size))  # [C, 1], places
    first = first_in_group(
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
    """Returns the extended ids of target words.

    A generable word keeps its input id, a word of the source gets its id there, and any other word
    is `UNK`.

    Args:
        input_ids: int32 `[N]`, of the target words.
        words: string `[N]`, in compared form.
        group: int64 `[N]`, the example of each word, a row of the next two tensors.
        source_extended_ids: int32 `[B, S]`; less than G at positions that cannot be copied.
        source_words: string `[B, S]`, in compared form.
        generation_vocabulary_size: int. G.

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
    positions = tf.where(source_extended_ids >= size)  # [P, 2], of words that can be copied
    offered = tf.gather_nd(source_extended_ids, positions)
    # Target words and those on offer as one list: a target word that is on offer gets its id.
    first = first_in_group(
        tf.concat([tf.gather_nd(tf.cast(group, tf.int64), copied), positions[:, 0]], axis=0),
        tf.concat([tf.gather_nd(words, copied), tf.gather_nd(source_words, positions)], axis=0),
        tf.concat([tf.fill(tf.shape(copied)[:1], _NOT_IN_SOURCE), offered], axis=0),
    )[: tf.shape(copied)[0]]
    result = tf.where(first == _NOT_IN_SOURCE, UNK, first)
    return tf.tensor_scatter_nd_update(input_ids, copied, result)
