"""Computation of a long axis in parts, which bounds the memory of what lies between."""

import keras
from keras import ops

from tfmrc.sizes import sizes

__all__ = ["map_chunks"]


def map_chunks(function, x, size):
    """Applies a function to parts of axis 1, one after the other.

    The memory that the function needs is that of one part. The gradient keeps all parts, so in
    training nothing is gained. An axis that is known to be no longer than a part is computed at
    once.

    Args:
        function: callable. From `[B, size, ...]` to a tensor or tuple of tensors `[B, size, ...]`,
            each index of axis 1 on its own.
        x: tensor `[B, T, ...]`.
        size: int. Length of a part.

    Returns:
        The results `[B, T, ...]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.chunks import map_chunks
        >>> doubled = map_chunks(lambda part: 2 * part, np.arange(10).reshape(2, 5), size=2)
        >>> np.array(doubled).tolist()
        [[0, 2, 4, 6, 8], [10, 12, 14, 16, 18]]
    """
    length = x.shape[1]
    if length is not None and length <= size:
        return function(x)
    length = sizes(x)[1]
    missing = -length % size
    x = ops.pad(x, [[0, 0], [0, missing], *([0, 0] for _ in x.shape[2:])])
    parts = ops.reshape(x, (sizes(x)[0], -1, size, *x.shape[2:]))
    results = ops.map(function, ops.moveaxis(parts, 1, 0))  # [n, B, size, ...]

    def joined(result):
        result = ops.moveaxis(result, 0, 1)
        shape = sizes(result)
        return ops.reshape(result, (shape[0], shape[1] * size, *shape[3:]))[:, :length]

    return keras.tree.map_structure(joined, results)
