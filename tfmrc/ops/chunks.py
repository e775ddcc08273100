"""Computation of a long axis in parts, which bounds the memory of the intermediate values."""

import keras
import numpy as np
from keras import ops

from tfmrc.ops.sizes import sizes

_GROUPS = 2 ** np.arange(12, dtype="int32")


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


def map_groups(function, size, *tensors):
    """Applies a function to groups of examples, one after the other.

    The memory that the function needs is that of one group, which then stays in the caches of a
    CPU. A group is the largest power of two that divides the batch and is at most `size`.

    Args:
        function: callable. From tensors `[b, ...]` to one `[b, ...]`, each example on its own.
        size: int or scalar int tensor. Largest number of examples in a group; 1 if it is less.
        *tensors: tensors `[B, ...]`.

    Returns:
        The result `[B, ...]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.chunks import map_groups
        >>> sums = map_groups(lambda a, b: a + b, 2, np.arange(6), 10 * np.arange(6))
        >>> np.array(sums).tolist()
        [0, 11, 22, 33, 44, 55]
    """
    batch_size = sizes(tensors[0])[0]
    fits = (batch_size % _GROUPS == 0) & (size >= _GROUPS)
    if isinstance(fits, np.ndarray):
        group = int(max([1, *_GROUPS[fits]]))
    else:
        group = ops.max(ops.where(fits, _GROUPS, 1))
    number = batch_size // group
    if not isinstance(number, int):
        number = ops.maximum(number, 1)  # one group of an empty batch
    elif number <= 1:
        return function(*tensors)
    groups = [ops.reshape(x, (number, batch_size // number, *sizes(x)[1:])) for x in tensors]
    results = ops.map(lambda i: function(*(x[i] for x in groups)), ops.arange(number))
    return ops.reshape(results, (batch_size, *sizes(results)[2:]))
