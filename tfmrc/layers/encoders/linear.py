"""The affine map used by all layers."""

import keras

from tfmrc.layers.encoders.dense import Dense


def normal(stddev: float = 0.02) -> keras.initializers.Initializer:
    """Returns a new N(0, stddev) initializer, one per weight because an object draws once."""
    return keras.initializers.RandomNormal(stddev=stddev)


def linear(units: int, *, stddev: float | None = 0.02, **arguments) -> Dense:
    """Returns a dense layer without activation, with weights from N(0, stddev) and zero biases.

    Args:
        units: int. Width of the output.
        stddev: float. Standard deviation of the initial weights; None for Glorot uniform.
            Default: 0.02.
        **arguments: Further arguments of `keras.layers.Dense`.

    Example:
        >>> from tfmrc.layers.encoders.linear import linear
        >>> linear(4, name="query").units
        4

    Reference: Nishida et al. 2019 (Masque), appendix A.1.
    """
    initializer = "glorot_uniform" if stddev is None else normal(stddev)
    return Dense(units, kernel_initializer=initializer, **arguments)
