"""The Gaussian error linear unit by the error function."""

from keras import ops


def exact_gelu(x):
    """Computes `x * Phi(x)`, where Phi is the standard normal distribution function.

    By `erf`, as in PyTorch: fewer passes than by Keras' `erfc`, and on a CPU TensorFlow fuses this
    form with the product before it.

    Args:
        x: float tensor of any shape.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.gelu import exact_gelu
        >>> print(np.round(exact_gelu(np.array([-1.0, 0.0, 1.0], "float32")), 4))
        [-0.1587  0.      0.8413]

    Reference: Hendrycks and Gimpel 2016.
    """
    return 0.5 * x * (1.0 + ops.erf(x * 2.0**-0.5))
