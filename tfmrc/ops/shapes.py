"""Reshape operations for leading axes, passages and heads."""

from keras import ops

from tfmrc.ops.sizes import sizes


def reshape_size(x):
    """Returns the shape of `x` as `ops.reshape` takes it, with -1 for its only unknown size.

    A size that TensorFlow infers needs no operations in the graph; with two unknown sizes they are
    computed. Only for reshapes that keep all sizes that are unknown.

    Example:
        >>> import keras
        >>> from tfmrc.ops.shapes import reshape_size
        >>> reshape_size(keras.KerasTensor((None, 3, 4)))
        (-1, 3, 4)
    """
    shape = tuple(x.shape)
    if shape.count(None) == 1 and 0 not in shape:  # nothing is inferred from no elements
        return tuple(-1 if size is None else size for size in shape)
    return sizes(x)


def flatten_leading(x, keep):
    """Flattens all axes but the last `keep` into one.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import flatten_leading
        >>> tuple(flatten_leading(np.zeros((2, 3, 4, 5)), keep=2).shape)
        (6, 4, 5)
    """
    shape = tuple(x.shape)
    kept = shape[len(shape) - keep :]
    if None in kept:
        kept = sizes(x)[len(shape) - keep :]
    return ops.reshape(x, (-1, *kept))


def restore_leading(x, like):
    """Restores the leading axes of flattened `x` `[N, ..., d]` from `like`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import restore_leading
        >>> tuple(restore_leading(np.zeros((6, 4, 7)), like=np.zeros((2, 3, 4, 5))).shape)
        (2, 3, 4, 7)
    """
    return ops.reshape(x, (*reshape_size(like)[:-1], x.shape[-1]))


def join_passages(x):
    """Concatenates passages: `[B, K, L, ...]` to `[B, K * L, ...]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import join_passages
        >>> tuple(join_passages(np.zeros((2, 3, 4, 5))).shape)
        (2, 12, 5)
    """
    shape = sizes(x)
    return ops.reshape(x, (shape[0], shape[1] * shape[2], *shape[3:]))


def split_heads(x, num_heads, columns=False):
    """Splits features into heads: `[..., n, d]` to `[..., H, n, d / H]`.

    With `columns` the positions become columns, `[..., H, d / H, n]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import split_heads
        >>> tuple(split_heads(np.zeros((2, 3, 8)), 4).shape)
        (2, 4, 3, 2)
    """
    heads = ops.reshape(x, (*reshape_size(x)[:-1], num_heads, x.shape[-1] // num_heads))
    return ops.moveaxis(heads, -3, -1) if columns else ops.swapaxes(heads, -2, -3)


def rows_to_heads(x, num_queries, num_heads):
    """Splits the features of rows `[B Q, d]`, Q queries per example, into heads `[B, H, Q, d / H]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import rows_to_heads
        >>> tuple(rows_to_heads(np.zeros((6, 8)), 3, 4).shape)
        (2, 4, 3, 2)
    """
    width = x.shape[-1] // num_heads
    if isinstance(num_queries, int) and num_queries == 1:  # nothing to transpose
        return ops.reshape(x, (-1, num_heads, 1, width))
    return ops.swapaxes(ops.reshape(x, (-1, num_queries, num_heads, width)), 1, 2)


def heads_to_rows(x):
    """Joins heads `[B, H, Q, d / H]` to rows `[B Q, d]`, the inverse of `rows_to_heads`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import heads_to_rows
        >>> tuple(heads_to_rows(np.zeros((2, 4, 3, 2))).shape)
        (6, 8)
    """
    _, num_heads, num_queries, width = x.shape
    x = x if num_queries == 1 else ops.swapaxes(x, 1, 2)
    return ops.reshape(x, (-1, num_heads * width))


def product(x, kernel):
    """Computes `x` `[..., a]` times `kernel` `[a, b]` as one product of matrices: `[..., b]`.

    Keras' `matmul` gives the same by `tensordot`, whose graph is three times as large where sizes
    are unknown.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.shapes import product
        >>> tuple(product(np.ones((2, 3, 4)), np.ones((4, 5))).shape)
        (2, 3, 5)
    """
    if len(x.shape) <= 2:
        return ops.matmul(x, kernel)
    return restore_leading(ops.matmul(flatten_leading(x, keep=1), kernel), like=x)
