"""The row of each value of a ragged tensor."""

import tensorflow as tf


def row_of_values(ragged: tf.RaggedTensor) -> tf.Tensor:
    """The row of each value, in memory that grows with the values alone.

    `RaggedTensor.value_rowids` builds a mask of rows times the longest row, which one very long
    text among many short ones makes huge.

    Args:
        ragged: a tensor with one ragged axis, N values in all.

    Returns:
        int64 `[N]`.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.rows import row_of_values
        >>> row_of_values(tf.ragged.constant([[7, 8], [], [9]])).numpy()
        array([0, 0, 2])
    """
    places = tf.range(tf.shape(ragged.values, tf.int64)[0])
    splits = tf.cast(ragged.row_splits, tf.int64)
    return tf.searchsorted(splits, places, side="right", out_type=tf.int64) - 1
