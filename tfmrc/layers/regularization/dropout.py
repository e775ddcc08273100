"""Dropout with a different mask on every replica."""

from collections.abc import Iterable
from typing import Any

import keras

from tfmrc.layers.base import Layer
from tfmrc.ops.dropout import drop
from tfmrc.ops.replica import replica_id
from tfmrc.ops.typing import Tensor

# An arbitrary odd number, so that the seeds of two replicas do not coincide with those of two
# layers with neighbouring seeds. Below 2**31, the largest seed that every backend supports.
_REPLICA_STRIDE = 1_640_531_527


class ReplicaSeedGenerator(keras.random.SeedGenerator):
    """A seed generator with different seeds on every replica.

    The state is that of `keras.random.SeedGenerator`, which is mirrored and incremented per call.
    The replica id only modifies the result of `next`. Replica 0 gets the seeds of Keras' generator.

    Args:
        seed: int. Seed; None for a random one.
        name: str. Name of the generator.
    """

    def next(self, ordered: bool = True) -> Any:
        return replica_seed(super().next(ordered))


def replica_seed(seed: Tensor) -> Tensor:
    """Derives the seed of the current replica from a shared seed.

    Args:
        seed: int `[2]`.

    Returns:
        int `[2]`; the same seed on replica 0.
    """
    replica = replica_id()
    if isinstance(replica, int) and replica == 0:
        return seed
    offset = keras.ops.cast(replica, seed.dtype) * keras.ops.cast(_REPLICA_STRIDE, seed.dtype)
    return seed + keras.ops.stack([offset, keras.ops.zeros_like(offset)])


@keras.saving.register_keras_serializable(package="tfmrc")
class Dropout(Layer):
    """Sets a share of the inputs to zero in training and scales the others.

    `y = x * m / (1 - rate)` with elementwise `m`, 1 with probability `1 - rate`; outside training
    `y = x`. Unlike Keras' layer, it draws 16 bits for an element instead of 32 (see
    `tfmrc.ops.dropout`), and different masks on the replicas of `tf.distribute.MirroredStrategy`:
    the state of a seed is mirrored, so the replica id is added to it (see `tfmrc.ops.replica`).

    Padding is treated like any other position.

    The state of the seed is a variable of the layer (`layer.variables`), which
    `tfmrc.training.Checkpoint` saves and restores.

    Args:
        rate: float. Share of the inputs to drop, `0 <= rate < 1`.
        seed: int. Seed; None for a random one. Default: None.

    Call arguments:
        inputs: `[...]` of any rank.
        training: bool. Whether to apply dropout.

    Returns:
        A tensor of the shape and dtype of `inputs`.

    Raises:
        ValueError: If `rate` is outside [0, 1).

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
        self.seed_generator = ReplicaSeedGenerator(seed) if rate > 0 else None
        self.supports_masking = True
        self.built = True

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        if training and self.rate > 0:
            return drop(inputs, self.rate, self.seed_generator)
        return inputs

    def compute_output_shape(self, input_shape):
        return input_shape


def seed_dropout(layers: Iterable[Any], seed: int | None) -> None:
    """Derives the seeds of dropout layers that have none from one seed; None leaves them random."""
    own = [x for x in layers if isinstance(x, Dropout) and x.seed is None]
    for number, layer in enumerate(own):
        if seed is not None and layer.seed_generator is not None:
            layer.seed_generator.state.assign([seed + number, 0])
