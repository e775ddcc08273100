"""Random masks of dropout, by few random numbers."""

import math

import keras
from keras import ops

from tfmrc.ops.sizes import sizes

_LEVELS, _LOWEST = 2**16, -(2**15)


def keep_mask(shape, rate, seed):
    """Draws which elements dropout keeps, each with probability `1 - rate`.

    On a CPU, random numbers are most of the time of dropout, so 16 bits decide for an element: the
    probability is a multiple of `2**-16`, but never 0 or 1.

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


def random_int16(count, seed):
    """Draws integers from -32,768 to 32,767 with equal probability.

    Two are cut from each number of 32 bits, which on a CPU takes about half of the time of drawing
    as many floats.

    Args:
        count: int, or int scalar.
        seed: `keras.random.SeedGenerator`.

    Returns:
        int16 `[count]`.

    Example:
        >>> import keras
        >>> from tfmrc.ops.dropout import random_int16
        >>> tuple(random_int16(3, keras.random.SeedGenerator(1)).shape)
        (3,)
    """
    shape = ((count + 1) // 2, 1)
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        # The whole range needs no division. XLA takes seeds of 32 bits only.
        seed = tf.cast(seed.next(), tf.int32)
        numbers = tf.random.stateless_uniform(shape, seed, None, None, tf.uint32)
        numbers = tf.bitcast(numbers, tf.int16)
    else:
        numbers = keras.random.randint(shape, -(2**31), 2**31 - 1, "int32", seed)
        numbers = ops.view(numbers, "int16")
    return ops.reshape(numbers, (-1,))[:count]
