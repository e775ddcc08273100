"""Maxout over neighbouring features."""

from keras import ops

from tfmrc.ops.shapes import reshape_size


def maxout(x, pool_size=2):
    """Computes `y_i = max(x_{ik}, ..., x_{ik + k - 1})` over the last axis, k = `pool_size`.

    Args:
        x: `[..., d]`, d a multiple of `pool_size`.
        pool_size: int. Number of features per output feature. Default: 2.

    Returns:
        `[..., d / pool_size]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.maxout import maxout
        >>> print(np.array(maxout(np.array([[1.0, 3.0, -2.0, -5.0]]))))
        [[ 3. -2.]]

    Reference: Goodfellow et al. 2013; Liu et al. 2018 (SAN), section 2.
    """
    width = x.shape[-1]
    shape = (*reshape_size(x)[:-1], width // pool_size, pool_size)
    # Keras takes the maximum of no numbers, of a batch without examples, only from an initial one.
    return ops.max(ops.reshape(x, shape), axis=-1, initial=-float("inf"))
