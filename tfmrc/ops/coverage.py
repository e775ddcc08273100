"""How much an attention goes back to where it has been."""

from keras import ops


def coverage_overlap(attention):
    """`sum_s min(a_{t, s}, sum_{t' < t} a_{t', s})` for every step t.

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
    return ops.sum(ops.minimum(attention, before), axis=-1)
