"""Self-attention of long texts: of near positions in linear time, of all by parts of the queries.

`tfmrc.ops.attention.attend` computes the weights of all queries and keys at once, `[R, H, P, P]`.
"""

from keras import ops

from tfmrc.ops.attention import attend
from tfmrc.ops.masking import LOG_ZERO, mask_bias
from tfmrc.ops.sizes import sizes

MOST_WEIGHTS = 2**24  # that are computed at once; 64 MiB in float32


def attend_near(queries, keys, values, bias, reach, scale, training=False):
    """Computes attention to the keys that are at most `reach` positions away.

    The positions are divided into n blocks of b positions. A block's queries see the keys of the
    block and of h positions on both sides: time and memory grow with P, and no `[P, P]` is built. A
    text of at most `3 * reach` positions is one block, `h = 0`; otherwise `b = h = reach`.

    Padding: as in `tfmrc.ops.attention.attend`.

    Args:
        queries, keys, values: `[R, H, P, d]`.
        bias: float32 `[R, 1, 1, P]`, the result of `tfmrc.ops.masking.mask_bias`.
        reach: int. Greatest distance between a query and a key.
        scale: float. Factor of the scores.
        training: bool. Whether to compute the weights again for the gradient. Default: False.

    Returns:
        `[R, H, P, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.long_attention import attend_near
        >>> x = np.zeros((1, 1, 5, 1), "float32")
        >>> values = np.arange(5, dtype="float32").reshape(1, 1, 5, 1)
        >>> result = attend_near(x, x, values, np.zeros((1, 1, 1, 5), "float32"), 1, 1.0)
        >>> np.array(result).ravel().tolist()
        [0.5, 1.0, 2.0, 3.0, 3.5]

    Reference: Beltagy et al. 2020, section 3.1 (sliding window).
    """
    rows, heads, length, width = sizes(queries)
    is_short = length <= 3 * reach
    block, beside = _choose(is_short, length, reach), _choose(is_short, 0, reach)
    count = (length + block - 1) // block  # n
    bias = ops.swapaxes(bias, -1, -2)  # [R, 1, P, 1]

    def blocks(x, fill=0.0):
        """Returns `[R, ., P, e]` as `[R, ., n, b, e]`."""
        x = ops.pad(x, [[0, 0], [0, 0], [0, count * block - length], [0, 0]], "constant", fill)
        return ops.reshape(x, (rows, x.shape[1], count, block, x.shape[-1]))

    def surrounded(x, fill=0.0):
        """Returns `[R, ., P, e]` as `[R, ., n, h + b + h, e]`, with positions on both sides."""
        x = blocks(x, fill)
        around = [[0, 0], [0, 0], [1, 1], [0, 0], [0, 0]]
        wide = ops.pad(x, around, "constant", fill)  # [R, ., n + 2, b, e]
        before, after = wide[:, :, :-2, block - beside :], wide[:, :, 2:, :beside]
        return ops.concatenate([before, x, after], axis=3)

    # Query q of a block is at place `h + q` among its keys.
    places = ops.arange(block + 2 * beside, dtype="int32")  # [h + b + h]
    query = ops.arange(block, dtype="int32")[:, None] + beside  # [b, 1]
    is_near = ops.abs(query - places) <= reach  # [b, h + b + h]
    bias = ops.swapaxes(surrounded(bias, LOG_ZERO), -1, -2)  # [R, 1, n, 1, h + b + h]
    bias = bias + mask_bias(is_near)  # [R, 1, n, b, h + b + h]
    keys = ops.swapaxes(surrounded(keys), -1, -2)  # [R, H, n, d, h + b + h]
    result = attend(blocks(queries), keys, surrounded(values), bias, scale, training)
    result = ops.reshape(result, (rows, heads, count * block, width))
    return result[:, :, :length]


def attend_by_parts(queries, keys, values, bias, scale, training=False):
    """Computes attention to all keys for parts of the queries, one after the other.

    Texts with at most `MOST_WEIGHTS` weights are computed at once. Otherwise memory grows with P,
    not with its square.

    Padding: as in `tfmrc.ops.attention.attend`.

    Args:
        queries, keys, values: `[R, H, P, d]`.
        bias: float32 `[R, 1, 1, P]`, the result of `tfmrc.ops.masking.mask_bias`.
        scale: float. Factor of the scores.
        training: bool. Whether to compute the weights again for the gradient. Default: False.

    Returns:
        `[R, H, P, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.long_attention import attend_by_parts
        >>> x = np.zeros((1, 1, 2, 1), "float32")
        >>> values = np.array([[[[1.0], [3.0]]]], "float32")
        >>> bias = np.zeros((1, 1, 1, 2), "float32")
        >>> print(np.array(attend_by_parts(x, x, values, bias, 1.0)).ravel())
        [2. 2.]

    Reference: Rabe and Staats 2021.
    """
    rows, heads, length, width = sizes(queries)
    keys = ops.swapaxes(keys, -1, -2)  # [R, H, d, P]

    def at_once(queries):
        return attend(queries, keys, values, bias, scale, training)

    weights_of_query = rows * heads * length
    most = MOST_WEIGHTS // _choose(weights_of_query > 0, weights_of_query, 1)  # queries of a part
    most = _choose(most > 0, most, 1)
    count = (length + most - 1) // most  # n

    def by_parts():
        size = (length + count - 1) // count
        x = ops.pad(queries, [[0, 0], [0, 0], [0, count * size - length], [0, 0]])
        parts = ops.moveaxis(ops.reshape(x, (rows, heads, count, size, width)), 2, 0)
        result = ops.moveaxis(ops.map(at_once, parts), 0, 2)  # [R, H, n, size, d]
        return ops.reshape(result, (rows, heads, count * size, width))[:, :, :length]

    if isinstance(count, int):
        return by_parts() if count > 1 else at_once(queries)
    if training:  # TensorFlow has no gradient of `attend` in a loop in a condition
        return by_parts()
    return ops.cond(count > 1, by_parts, lambda: at_once(queries))


def _choose(condition, one, other):
    """Returns one of two sizes, which are integers, or scalar tensors where they are unknown."""
    if isinstance(condition, bool):
        return one if condition else other
    return ops.where(condition, one, other)
