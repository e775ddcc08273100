"""The affine map used by all layers."""

from typing import Any

import keras

from tfmrc.layers.encoders.dense import Dense


def initial(initializer: Any = 0.02) -> Any:
    """Returns an initializer for one weight, a new one because an object draws once.

    Args:
        initializer: float, str, initializer or None. A float is the standard deviation of a normal
            one, None Glorot uniform. Default: 0.02.
    """
    if isinstance(initializer, int | float):
        return keras.initializers.RandomNormal(stddev=initializer)
    if isinstance(initializer, keras.initializers.Initializer):
        return initializer.clone()
    return initializer or "glorot_uniform"


def linear(units: int, *, initializer: Any = 0.02, **arguments) -> Dense:
    """Returns a dense layer without activation and with zero biases.

    Args:
        units: int. Width of the output.
        initializer: float, str, initializer or None. As for `initial`. Default: 0.02.
        **arguments: Further arguments of `keras.layers.Dense`.

    Example:
        >>> from tfmrc.layers.encoders.linear import linear
        >>> linear(4, name="query").units
        4

    Reference: Nishida et al. 2019 (Masque), appendix A.1.
    """
    return Dense(units, kernel_initializer=initial(initializer), **arguments)
