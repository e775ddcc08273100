"""Sinusoidal position encoding."""

from keras import ops


def sinusoid(positions, dim):
    """Computes sines and cosines of the positions at `dim / 2` geometrically spaced frequencies.

    Args:
        positions: `[...]`, 0 for the first word.
        dim: int. Width of the encoding, an even number.

    Returns:
        float32 `[..., dim]`: the sines, then the cosines.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.positions import sinusoid
        >>> print(np.round(sinusoid(np.array([0, 1]), 2), 4))
        [[0.     1.    ]
         [0.8415 0.5403]]

    Reference: Vaswani et al. 2017, section 3.5.
    """
    half = dim // 2
    frequencies = ops.exp(ops.arange(half, dtype="float32") * (-9.210340371976184 / half))
    angles = ops.cast(positions, "float32")[..., None] * frequencies
    return ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=-1)
