"""Random masks of dropout, by few random numbers."""

import math

from keras import ops

from tfmrc.ops.random_numbers import random_int16
from tfmrc.ops.sizes import sizes

__all__ = ["drop", "keep_mask"]

_LEVELS, _LOWEST = 2**16, -(2**15)


def keep_mask(shape, rate, seed):
    """Draws which elements dropout keeps, each with probability `1 - rate`.

    On a CPU, random numbers are most of the time of dropout, so 16 bits decide for an element: the
    probability is a multiple of `2**-16`, and 0 and 1 are none of them.

    Args:
        shape: tuple of int, or of int scalars where a size is not known.
        rate: float. Share of the elements to drop, `0 < rate < 1`.
        seed: `keras.random.SeedGenerator`.

    Returns:
        A boolean tensor of this shape.

    Example:
        >>> import keras
        >>> from tfmrc.ops.dropout import keep_mask
        >>> tuple(keep_mask((2, 3), 0.5, keras.random.SeedGenerator(1)).shape)
        (2, 3)
    """
    levels = ops.reshape(random_int16(math.prod(shape), seed), shape)
    dropped = min(round(rate * _LEVELS), _LEVELS - 1)
    return levels >= ops.cast(_LOWEST + dropped, "int16")


def drop(x, rate, seed):
    """Sets elements to zero with probability `rate` and divides the others by `1 - rate`.

    Args:
        x: tensor of any shape.
        rate: float. Share of the elements to drop, `0 < rate < 1`.
        seed: `keras.random.SeedGenerator`.

    Returns:
        A tensor of the shape and dtype of `x`.

    Example:
        >>> import keras
        >>> import numpy as np
        >>> from tfmrc.ops.dropout import drop
        >>> values = np.array(drop(np.ones(100), 0.5, keras.random.SeedGenerator(1)))
        >>> sorted({float(value) for value in values})
        [0.0, 2.0]
    """
    x = ops.convert_to_tensor(x)
    return ops.where(keep_mask(sizes(x), rate, seed), x * (1.0 / (1.0 - rate)), 0.0)
