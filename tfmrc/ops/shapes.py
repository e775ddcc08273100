"""Reshape operations for leading axes, passages and heads."""

from keras import ops


def flatten_leading(x, keep):
    """Flattens all axes but the last `keep` into one.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import flatten_leading
        >>> tuple(flatten_leading(np.zeros((2, 3, 4, 5)), keep=2).shape)
        (6, 4, 5)
    """
    shape = ops.shape(x)
    return ops.reshape(x, (-1, *shape[len(shape) - keep :]))


def restore_leading(x, like):
    """Restores the leading axes of flattened `x` `[N, ..., d]` from `like`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import restore_leading
        >>> tuple(restore_leading(np.zeros((6, 4, 7)), like=np.zeros((2, 3, 4, 5))).shape)
        (2, 3, 4, 7)
    """
    return ops.reshape(x, (*ops.shape(like)[:-1], x.shape[-1]))


def join_passages(x):
    """Concatenates passages: `[B, K, L, ...]` to `[B, K * L, ...]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import join_passages
        >>> tuple(join_passages(np.zeros((2, 3, 4, 5))).shape)
        (2, 12, 5)
    """
    shape = ops.shape(x)
    return ops.reshape(x, (shape[0], shape[1] * shape[2], *shape[3:]))


def split_heads(x, num_heads):
    """Splits features into heads: `[..., n, d]` to `[..., H, n, d / H]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import split_heads
        >>> tuple(split_heads(np.zeros((2, 3, 8)), 4).shape)
        (2, 4, 3, 2)
    """
    shape = ops.shape(x)
    heads = ops.reshape(x, (*shape[:-1], num_heads, x.shape[-1] // num_heads))
    return ops.swapaxes(heads, -2, -3)
