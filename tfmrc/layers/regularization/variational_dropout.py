"""Dropout with the same mask for all words of a sequence."""

import keras

from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops.dropout import drop
from tfmrc.ops.typing import Tensor


@keras.saving.register_keras_serializable(package="tfmrc")
class VariationalDropout(Dropout):
    """Sets a share of the features to zero in training, the same features at every time step.

    `y = x * m / (1 - rate)` with `m` `[..., 1, d]`, 1 with probability `1 - rate`: one mask per
    sequence, shared by its words. Outside training `y = x`. Masks differ between the replicas of a
    strategy, as in `tfmrc.layers.Dropout`.

    Padding is treated like any other position.

    Args:
        rate: float. Share of the features to drop, `0 <= rate < 1`.
        seed: int. Seed; None for a random one.

    Call arguments:
        inputs: `[..., n, d]`.
        training: bool. Whether to apply dropout.

    Returns:
        `[..., n, d]`.

    Raises:
        ValueError: If `rate` is outside [0, 1).

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import VariationalDropout
        >>> y = np.array(VariationalDropout(0.5, seed=3)(np.ones((1, 3, 8)), training=True))
        >>> bool(np.all(y[0, 0] == y[0, 1]) and np.all(y[0, 0] == y[0, 2]))
        True

    Reference: Gal and Ghahramani 2016.
    """

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        if not training or self.rate == 0:
            return inputs
        ones = keras.ops.ones_like(inputs[..., :1, :])
        return inputs * drop(ones, self.rate, self.seed_generator)
