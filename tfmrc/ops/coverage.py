"""Coverage measures of attention."""

from keras import ops


def coverage_overlap(attention):
    """Computes `sum_s min(a_{t, s}, sum_{t' < t} a_{t', s})` for every step t.

    Args:
        attention: `[B, T, S]` attention weights, zero at padding.

    Returns:
        float32 `[B, T]`; 0 at the first step.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.coverage import coverage_overlap
        >>> attention = np.array([[[0.5, 0.5], [0.9, 0.1], [0.0, 1.0]]])
        >>> print(np.round(coverage_overlap(attention), 4))
        [[0.  0.6 0.6]]

    Reference: See et al. 2017, section 2.3; daanet-16.
    """
    attention = ops.cast(attention, "float32")
    before = ops.cumsum(attention, axis=1) - attention
    return ops.sum(ops.minimum(attention, before), axis=-1)  # daanet-16


def attended_again(coverage):
    """Computes `sum_s max(c_s, 1) - 1`, the attention in excess of 1 per position.

    Args:
        coverage: `[..., S]` attention weights, summed over all previous steps.

    Returns:
        float32 `[...]`, non-decreasing over the steps.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.coverage import attended_again
        >>> print(np.round(attended_again(np.array([[1.5, 0.2, 1.25, 0.0]])), 4))
        [0.75]

    Reference: Gehrmann et al. 2018, "Bottom-Up Abstractive Summarization", section 5 (coverage
    penalty).
    """
    return ops.sum(ops.relu(ops.cast(coverage, "float32") - 1.0), axis=-1)
