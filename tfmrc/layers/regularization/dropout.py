"""Dropout whose mask differs from replica to replica."""

from typing import Any

import keras

from tfmrc.ops.replica import replica_id

# An odd number without structure: two replicas of one layer must not meet two layers with
# neighbouring seeds. It stays below 2**31, the largest seed that every backend can carry.
_REPLICA_STRIDE = 1_640_531_527


class ReplicaSeedGenerator(keras.random.SeedGenerator):
    """A seed generator that gives every replica seeds of its own.

    The state is that of `keras.random.SeedGenerator`, mirrored and advanced by one a call; the
    replica's number enters only what `next` returns. Replica 0 gets the numbers of a plain
    generator, so a model on one device draws what it would draw with Keras' own class.

    Args:
        seed: an integer, or None for a random one.
        name: name of the generator.
    """

    def next(self, ordered: bool = True) -> Any:
        return replica_seed(super().next(ordered))


def replica_seed(seed: Any) -> Any:
    """A seed of the calling replica's own, from one that all replicas share.

    Args:
        seed: integer `[2]`.

    Returns:
        integer `[2]`; on replica 0 the same seed.
    """
    replica = replica_id()
    if isinstance(replica, int) and replica == 0:
        return seed
    offset = keras.ops.cast(replica, seed.dtype) * keras.ops.cast(_REPLICA_STRIDE, seed.dtype)
    return seed + keras.ops.stack([offset, keras.ops.zeros_like(offset)])


@keras.saving.register_keras_serializable(package="tfmrc")
class Dropout(keras.Layer):
    """Sets a share of the inputs to zero in training and scales up the others.

    `y = x * m / (1 - rate)` with `m` drawn elementwise, 1 with probability `1 - rate`; outside
    training `y = x`. On one device the numbers are those of `keras.layers.Dropout` with the same
    seed. Under `tf.distribute.MirroredStrategy` Keras' layer draws the same mask on every replica,
    because the state of its seed is mirrored; this one adds the replica's number to the seed
    (`tfmrc.training` registers where it comes from).

    Padding: padded positions are dropped like any other.

    The state of the seed is a variable of the layer (`layer.variables`), which
    `tfmrc.training.Checkpoint` saves and restores.

    Args:
        rate: share of the inputs to drop, `0 <= rate < 1`.
        seed: an integer, or None for a random one.

    Call arguments:
        inputs: `[...]` of any rank.
        training: whether to drop.

    Returns:
        A tensor of the shape and dtype of `inputs`.

    Raises:
        ValueError: `rate` is outside [0, 1).

    Example:

    >>> import keras
    >>> from tfmrc.layers.regularization.dropout import Dropout
    >>> layer = Dropout(0.5, seed=7)
    >>> float(keras.ops.sum(layer(keras.ops.ones((2, 3)), training=False)))
    6.0
    >>> values = keras.ops.convert_to_numpy(layer(keras.ops.ones((100,)), training=True))
    >>> sorted({float(value) for value in values})
    [0.0, 2.0]
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"`rate` must be at least 0 and below 1. Received: rate={rate}")
        self.rate = rate
        self.seed = seed
        if rate > 0:
            self.seed_generator = ReplicaSeedGenerator(seed)
        self.supports_masking = True
        self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        if training and self.rate > 0:
            return keras.random.dropout(inputs, self.rate, seed=self.seed_generator)
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}
