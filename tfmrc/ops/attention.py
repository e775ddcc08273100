"""Attention whose gradient stores no tensor of the size of the weights but the mask of dropout."""

import keras
from keras import ops

from tfmrc.ops.dropout import keep_mask
from tfmrc.ops.gradients import after, custom_gradient
from tfmrc.ops.masking import biased_softmax
from tfmrc.ops.portable import has_gpu
from tfmrc.ops.sizes import sizes

FEW_QUERIES = 10  # a CPU multiplies more of them faster as a matrix


def scores(queries, keys, scale):
    """Computes `scale * Q K`.

    Args:
        queries: `[..., m, d]`.
        keys: `[..., d, n]`.
        scale: float.

    Returns:
        `[..., m, n]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.attention import scores
        >>> print(np.array(scores(np.ones((1, 4), "float32"), np.ones((4, 2), "float32"), 0.5)))
        [[2. 2.]]
    """
    queries = ops.convert_to_tensor(queries)
    # TensorFlow fuses a product with its scale, but in float16 it may be too large before.
    if keras.backend.standardize_dtype(queries.dtype) == "float16":
        return ops.matmul(queries * scale, keys)
    return ops.matmul(queries, keys) * scale


def attend(queries, keys, values, bias, scale, training=False, rate=0.0, seed=None):
    """Computes `dropout(softmax(scale * Q K + bias)) V`.

    The weights `[..., m, n]` are much larger than queries, keys and values for long texts. They are
    computed again for the gradient of a training, which on a CPU takes no longer than to store and
    read several tensors of their size.

    Padding: `bias` has `tfmrc.ops.masking.LOG_ZERO` there. A row without a real position has
    some weights that add up to one: its values must be zeros.

    Args:
        queries: `[..., m, d]`.
        keys: `[..., d, n]`, in the order in which they are read.
        values: `[..., n, d]`.
        bias: float32, broadcastable to `[..., m, n]`, or 0.0. It gets no gradient.
        scale: float. Factor of the scores.
        training: bool. Whether to apply dropout, and to compute the weights again for the gradient.
            Default: False.
        rate: float. Dropout rate on the weights. Default: 0.0.
        seed: `keras.random.SeedGenerator`, for dropout. Default: None.

    Returns:
        `[..., m, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.attention import attend
        >>> queries, values = np.zeros((1, 2), "float32"), np.array([[1.0], [3.0]], "float32")
        >>> print(np.array(attend(queries, np.zeros((2, 2), "float32"), values, 0.0, 1.0)))
        [[2.]]

    Reference: Vaswani et al. 2017, section 3.2; Chen et al. 2016 (computing again).
    """
    queries, keys, values = map(ops.convert_to_tensor, (queries, keys, values))
    if not training and 1 < (queries.shape[-2] or 0) <= FEW_QUERIES and not has_gpu():
        # The beams of a step, each as a vector. A CPU multiplies a few rows by rearranging the
        # whole matrix; a vector reads it once, and the next one finds it in the cache.
        several = queries[..., None, :], keys[..., None, :, :], values[..., None, :, :]
        bias = ops.convert_to_tensor(bias)
        bias = bias[..., None, :] if len(bias.shape) else bias
        return attend(*several, bias, scale)[..., 0, :]
    keep = None
    if training and rate > 0:
        keep = keep_mask((*sizes(queries)[:-1], sizes(keys)[-1]), rate, seed)

    def weigh(queries, keys):
        weights = biased_softmax(scores(queries, keys, scale), bias)
        if keep is None:
            return weights, weights
        return weights, ops.where(keep, weights * (1.0 / (1.0 - rate)), 0.0)

    @custom_gradient
    def run(queries, keys, values):
        result = ops.matmul(weigh(queries, keys)[1], values)

        def gradient(*upstream, **_):
            upstream = upstream[0]
            weights, dropped = weigh(after(queries, upstream), keys)
            d_values = ops.matmul(ops.swapaxes(dropped, -1, -2), upstream)
            # The factors of dropout and scale on [..., m, d] in place of [..., m, n].
            factor = scale if keep is None else scale / (1.0 - rate)
            d_weights = ops.matmul(upstream * factor, ops.swapaxes(values, -1, -2))
            if keep is not None:
                d_weights = ops.where(keep, d_weights, 0.0)
            # sum_j weights_ij d_weights_ij is the product of the result and its gradient.
            mean = ops.sum(_float32(result) * _float32(upstream), axis=-1, keepdims=True) * scale
            d_scores = ops.cast((_float32(d_weights) - mean) * _float32(weights), queries.dtype)
            d_queries = ops.matmul(d_scores, ops.swapaxes(keys, -1, -2))
            d_keys = ops.matmul(ops.swapaxes(queries, -1, -2), d_scores)
            return d_queries, d_keys, d_values

        return result, gradient

    if not training:
        return ops.matmul(weigh(queries, keys)[1], values)
    return run(queries, keys, values)


def _float32(x):
    return ops.cast(x, "float32")
