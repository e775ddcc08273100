import keras

from tfmrc.layers.base import Layer
from tfmrc.ops.shapes import flatten_leading, restore_leading


@keras.saving.register_keras_serializable(package="tfmrc")
class FeedForward(Layer):
    """Applies a two-layer position-wise network: `W_2 f(W_1 x + b_1) + b_2`.

    Args:
        intermediate_dim: int. Inner width.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one, None Glorot uniform. Default: 0.02.
        output_dim: int. Width of the output; None for the width of the input. Default: None.
        activation: str or function. `f`, the name of a Keras activation or a function, which is
            saved if it is registered with Keras. Default: "gelu" (exact, as in Masque).

    Call arguments:
        x: `[..., d]`.

    Returns:
        `[..., output_dim]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import FeedForward
        >>> tuple(FeedForward(intermediate_dim=8)(np.ones((2, 4), "float32")).shape)
        (2, 4)

    Reference: Nishida et al. 2019 (Masque), section 3.1.2; Hendrycks and Gimpel 2016 (exact GELU);
    Liu et al. 2018 (SAN), section 2, san-01 (with "relu").
    """

    def __init__(
        self, intermediate_dim, initializer=0.02, output_dim=None, activation="gelu", **kwargs
    ):
        super().__init__(**kwargs)
        self.intermediate_dim = intermediate_dim
        self.initializer = initializer
        self.output_dim = output_dim
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        width, inner = input_shape[-1], self.intermediate_dim
        options = {"initializer": self.initializer}
        self.inner = self.add_dense("inner", inner, width, **options)
        self.outer = self.add_dense("outer", self.output_dim or width, inner, **options)

    def call(self, x):
        if len(x.shape) > 2:  # on a matrix TensorFlow fuses product, bias and activation
            return restore_leading(self.call(flatten_leading(x, keep=1)), like=x)
        return self.outer(self.activation(self.inner(x)))  # san-01

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.output_dim or input_shape[-1])
