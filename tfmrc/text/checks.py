"""Checks of values in a graph."""

import tensorflow as tf


def checked(values: tf.Tensor, condition: tf.Tensor, *message: str | tf.Tensor) -> tf.Tensor:
    """Returns a tensor, whose computation fails if a condition does not hold.

    Args:
        values: tensor.
        condition: scalar bool.
        *message: str and tensors, for the error.

    Raises:
        tf.errors.InvalidArgumentError: If the condition does not hold.
    """
    check = tf.debugging.Assert(condition, list(message), summarize=8)
    with tf.control_dependencies([] if check is None else [check]):  # None outside a graph
        return tf.identity(values)
