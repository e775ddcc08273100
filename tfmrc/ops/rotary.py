"""Rotary positions: queries and keys are turned by angles that grow with their position."""

import numpy as np
from keras import ops

from tfmrc.ops.sizes import sizes


def rotate(x, base):
    """Turns each pair of features `(x_i, x_{i + d/2})` by the angle `p * base ** (-2 i / d)`.

    The product of a query at position p and a key at position q then depends on `p - q`. Angles are
    computed in float32, as the models of Hugging Face do, whose scores at late positions depend on
    their rounding.

    Padding is treated like any other position.

    Args:
        x: `[..., P, d]` with an even `d`. P positions.
        base: float. Greater ones turn more slowly.

    Returns:
        `[..., P, d]` in the dtype of `x`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.rotary import rotate
        >>> print(np.round(rotate(np.array([[1.0, 0.0], [1.0, 0.0]], "float32"), 10_000.0), 3))
        [[1.    0.   ]
         [0.54  0.841]]

    Reference: Su et al. 2021, section 3.4.
    """
    x = ops.convert_to_tensor(x)
    length, width = sizes(x)[-2], x.shape[-1]
    speeds = np.float32(1.0) / np.float32(base ** (np.arange(0, width, 2) / width))  # [d / 2]
    angles = ops.cast(ops.arange(length, dtype="int32"), "float32")[:, None] * speeds  # [P, d / 2]
    cosines, sines = ops.cos(angles), ops.sin(angles)
    first, second = ops.split(ops.cast(x, "float32"), 2, axis=-1)  # [..., P, d / 2] each
    turned = first * cosines - second * sines, second * cosines + first * sines
    return ops.cast(ops.concatenate(turned, axis=-1), x.dtype)  # [..., P, d]
