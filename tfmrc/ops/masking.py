"""Masked normalization and reduction.

Only this module normalizes scores under a mask: in float32, with `where` instead of adding a large
negative number, and with zeros (log-probability `LOG_ZERO`) for a row without a real position.
Masks are boolean, True = real, and broadcast against the scores. None means that all positions are
real.
"""

from keras import ops
from keras.backend import standardize_dtype

from tfmrc.ops.sizes import sizes

# The log-probability of an impossible event: finite, so that gradients are never NaN, and so low
# that its exp() is zero in float32.
LOG_ZERO = -1e9

LARGEST_FLOAT16 = 65504.0


def masked_logsumexp(x, mask=None, axis=-1, keepdims=False):
    """Computes `log(sum(exp(x)))` over the real positions along `axis`, in float32.

    Args:
        x: scores of any shape.
        mask: boolean, broadcastable to `x`; None for all real. Default: None.
        axis: int. The axis to reduce. Default: -1.
        keepdims: bool. Whether to keep the reduced axis with size 1. Default: False.

    Returns:
        float32; `LOG_ZERO` where no position is real, or all real ones are minus infinity.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.masking import masked_logsumexp
        >>> x = np.log([[1.0, 2.0, 5.0]])
        >>> print(np.round(np.exp(masked_logsumexp(x, np.array([[True, True, False]]))), 4))
        [3.]
    """
    x = _float32(x)
    if mask is not None:
        x = ops.where(mask, x, LOG_ZERO)
    # Not below LOG_ZERO: the difference of two infinities is NaN.
    shift = ops.stop_gradient(ops.max(x, axis=axis, keepdims=True, initial=LOG_ZERO))
    exponentials = ops.exp(x - shift)
    if mask is not None:
        exponentials = ops.where(mask, exponentials, 0.0)
    total = ops.sum(exponentials, axis=axis, keepdims=True)
    real = ops.not_equal(total, 0.0)  # NaN of a real position remains
    result = ops.where(real, ops.log(ops.where(real, total, 1.0)) + shift, LOG_ZERO)
    return result if keepdims else ops.squeeze(result, axis=axis)


def masked_softmax(x, mask=None, axis=-1):
    """Computes the softmax over the real positions along `axis`, with zeros elsewhere.

    A row without a real position is all zeros.

    Args:
        x: scores of any shape.
        mask: boolean, broadcastable to `x`; None for all real. Default: None.
        axis: int. The axis to normalize. Default: -1.

    Returns:
        Probabilities in the dtype of `x` (computed in float32).

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.masking import masked_softmax
        >>> x = np.array([[0.0, 0.0, 9.0], [1.0, 2.0, 3.0]], "float32")
        >>> mask = np.array([[True, True, False], [False, False, False]])
        >>> print(np.array(masked_softmax(x, mask)))
        [[0.5 0.5 0. ]
         [0.  0.  0. ]]
    """
    x = ops.convert_to_tensor(x)
    scores = _float32(x)
    if mask is None:
        return ops.cast(_softmax(scores, axis), x.dtype)
    weights = _softmax(ops.where(mask, scores, LOG_ZERO), axis)
    return ops.cast(ops.where(mask, weights, 0.0), x.dtype)


def mask_bias(mask):
    """Returns what `biased_softmax` adds to scores: 0 at real positions, `LOG_ZERO` at padding.

    Args:
        mask: boolean of any shape.
    """
    return ops.where(mask, 0.0, LOG_ZERO)


def biased_softmax(x, bias):
    """Computes `masked_softmax` over the last axis with a mask that `mask_bias` has prepared.

    One addition takes the place of two selections, for loops whose mask does not change. A row
    without a real position has some weights that add up to one instead of zeros: what such a row
    weighs must be zero.

    Args:
        x: scores of any shape.
        bias: float32, broadcastable to `x`.

    Returns:
        Probabilities in the dtype of `x` (computed in float32).

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.masking import biased_softmax, mask_bias
        >>> x = np.array([[0.0, 0.0, 9.0]], "float32")
        >>> print(np.array(biased_softmax(x, mask_bias(np.array([[True, True, False]])))))
        [[0.5 0.5 0. ]]
    """
    x = ops.convert_to_tensor(x)
    return ops.cast(_softmax(_float32(x) + bias, axis=-1), x.dtype)


def masked_log_softmax(x, mask=None, axis=-1):
    """Computes the logarithm of `masked_softmax` in float32, `LOG_ZERO` where it is zero.

    Args:
        x: scores of any shape.
        mask: boolean, broadcastable to `x`; None for all real. Default: None.
        axis: int. The axis to normalize. Default: -1.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.masking import masked_log_softmax
        >>> result = masked_log_softmax(np.zeros((1, 2)), np.array([[True, False]]))
        >>> print(np.array(result))
        [[ 0.e+00 -1.e+09]]
    """
    x = _float32(x)
    if mask is None:
        return _over_few_axes(ops.log_softmax, x, axis)
    normalized = _over_few_axes(ops.log_softmax, ops.where(mask, x, LOG_ZERO), axis)
    return ops.where(mask, normalized, LOG_ZERO)


def masked_max(x, mask, axis):
    """Computes the maximum over the real positions along `axis`; zero where there is none.

    Args:
        x: values of any shape.
        mask: boolean, broadcastable to `x`.
        axis: int. The axis to reduce.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.masking import masked_max
        >>> x = np.array([[-3.0, -1.0], [-5.0, -2.0]])
        >>> print(np.array(masked_max(x, np.array([[True, False], [False, False]]), axis=1)))
        [-3.  0.]
    """
    x = ops.convert_to_tensor(x)
    lowest = -LARGEST_FLOAT16 if standardize_dtype(x.dtype) == "float16" else -3e38
    masked = ops.where(mask, x, ops.cast(lowest, x.dtype))
    maximum = ops.max(masked, axis=axis, initial=lowest)  # also of a replica without examples
    return ops.where(ops.any(mask, axis=axis), maximum, ops.zeros_like(maximum))


def _float32(x):
    # A product of float16 numbers can be too large for float16, and infinity minus infinity is NaN.
    x = ops.convert_to_tensor(x)
    scores = ops.cast(x, "float32")
    if standardize_dtype(x.dtype) == "float16":
        scores = ops.clip(scores, -LARGEST_FLOAT16, LARGEST_FLOAT16)
    return scores


def _softmax(x, axis):
    # Keras warns of the softmax over a single element, which a text of one word has.
    return ops.ones_like(x) if x.shape[axis] == 1 else _over_few_axes(ops.softmax, x, axis)


def _over_few_axes(normalize, x, axis):
    # oneDNN, with which TensorFlow computes on many CPUs, normalizes at most five axes.
    if len(x.shape) <= 5:
        return normalize(x, axis=axis)
    x = ops.moveaxis(x, axis, -1)
    rows = normalize(ops.reshape(x, (-1, sizes(x)[-1])), axis=-1)
    return ops.moveaxis(ops.reshape(rows, sizes(x)), -1, axis)
