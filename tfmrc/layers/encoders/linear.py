"""The affine map used by all layers."""

import keras


def normal(stddev: float = 0.02) -> keras.initializers.Initializer:
    """Returns a new N(0, stddev) initializer, one per weight because an object draws once."""
    return keras.initializers.RandomNormal(stddev=stddev)


def linear(units: int, *, stddev: float | None = 0.02, **arguments) -> keras.layers.Dense:
    """Returns a dense layer without activation, weights N(0, stddev), biases zero.

    With `stddev=None` the weights are drawn as Keras does and Glorot and Bengio 2010 say: uniform,
    as wide as the mean of inputs and outputs tells ("fan-avg").

    Example:
        >>> from tfmrc.layers.encoders.linear import linear
        >>> linear(4, name="query").units
        4

    Reference: Nishida et al. 2019 (Masque), appendix A.1.
    """
    initializer = "glorot_uniform" if stddev is None else normal(stddev)
    return keras.layers.Dense(units, kernel_initializer=initializer, **arguments)
