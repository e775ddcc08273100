"""Row indices of the values of a ragged tensor."""

import tensorflow as tf


def row_of_values(ragged: tf.RaggedTensor) -> tf.Tensor:
    """Returns the row of each value, in memory linear in the number of values.

    `RaggedTensor.value_rowids` builds a mask of rows times the longest row, which is very large
    for one long text among many short ones.

    Args:
        ragged: `tf.RaggedTensor` with one ragged axis and N values.

    Returns:
        int32 `[N]`.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.rows import row_of_values
        >>> row_of_values(tf.ragged.constant([[7, 8], [], [9]])).numpy()
        array([0, 0, 2], dtype=int32)
    """
    positions = tf.range(tf.shape(ragged.values, tf.int64)[0])
    splits = tf.cast(ragged.row_splits, tf.int64)  # [0, 2, 2, 3] in the example
    return tf.searchsorted(splits, positions, side="right") - 1


def row_and_position(ragged: tf.RaggedTensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the row of each value and its position in the row, int32 `[N]`.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.rows import row_and_position
        >>> row_and_position(tf.ragged.constant([[7, 8], [], [9]]))[1].numpy()
        array([0, 1, 0], dtype=int32)
    """
    row = row_of_values(ragged)
    first = tf.cast(tf.gather(ragged.row_starts(), row), tf.int32)
    return row, tf.range(tf.size(row)) - first
