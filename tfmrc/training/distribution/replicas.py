"""Sums of gradients over replicas, and the number of a replica."""

from collections.abc import Sequence
from typing import Any

import keras

from tfmrc.ops.replica import register_replica_id
from tfmrc.ops.typing import Tensor


def _on_tensorflow() -> bool:
    return keras.backend.backend() == "tensorflow"


def tensorflow_replica_id() -> Any:
    """Returns the number of the running replica of the current `tf.distribute` strategy.

    Returns:
        The Python integer 0 outside a strategy, under a strategy with one replica and in the
        cross-replica context; a scalar int32 tensor otherwise.
    """
    import tensorflow as tf

    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return 0
    return context.replica_id_in_sync_group


def dense(grads: Sequence[Tensor]) -> list[Tensor]:
    """Returns gradients with `tf.IndexedSlices` as dense tensors, and None for None."""
    if not _on_tensorflow():
        return list(grads)
    import tensorflow as tf

    return [None if g is None else tf.convert_to_tensor(g) for g in grads]


def sum_over_replicas(grads: Sequence[Tensor]) -> tuple[list[Tensor], int]:
    """Returns the sums of gradients over the replicas.

    On other backends than TensorFlow and outside a strategy, the sum is the gradient itself.

    Args:
        grads: list. Dense gradients or None.

    Returns:
        The gradients, the same on every replica, None for None; and the number of replicas.
    """
    if not _on_tensorflow():
        return list(grads), 1
    import tensorflow as tf

    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return list(grads), 1
    present = [g for g in grads if g is not None]
    summed = iter(context.all_reduce(tf.distribute.ReduceOp.SUM, present)) if present else iter(())
    return [None if g is None else next(summed) for g in grads], context.num_replicas_in_sync


def register() -> None:
    """Connects `tfmrc.ops.replica.replica_id` with TensorFlow; no effect on other backends."""
    if _on_tensorflow():
        register_replica_id(tensorflow_replica_id)
