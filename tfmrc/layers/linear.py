"""The affine map that all layers of tfmrc are made of."""

import keras


def normal(stddev: float = 0.02) -> keras.initializers.Initializer:
    """A fresh N(0, stddev) initialiser: one object a weight, since an object draws only once."""
    return keras.initializers.RandomNormal(stddev=stddev)


def linear(units: int, *, stddev: float = 0.02, **arguments) -> keras.layers.Dense:
    """A dense layer without activation, weights N(0, stddev), biases zero.

    Example:
        >>> from tfmrc.layers.linear import linear
        >>> linear(4, name="query").units
        4

    Reference: Nishida et al. 2019 (Masque), appendix A.1.
    """
    return keras.layers.Dense(units, kernel_initializer=normal(stddev), **arguments)
