"""Row indices of the values of a ragged tensor."""

import tensorflow as tf


def row_of_values(ragged: tf.RaggedTensor) -> tf.Tensor:
    """Returns the row of each value, in memory linear in the number of values.

    `RaggedTensor.value_rowids` builds a mask of rows times the longest row, which is very large
    for one long text among many short ones.

    Args:
        ragged: `tf.RaggedTensor` with one ragged axis and N values.

    Returns:
        int64 `[N]`.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.rows import row_of_values
        >>> row_of_values(tf.ragged.constant([[7, 8], [], [9]])).numpy()
        array([0, 0, 2])
    """
    positions = tf.range(tf.shape(ragged.values, tf.int64)[0])
    splits = tf.cast(ragged.row_splits, tf.int64)
    return tf.searchsorted(splits, positions, side="right", out_type=tf.int64) - 1
