import keras

from tfmrc.layers.linear import linear


@keras.saving.register_keras_serializable(package="tfmrc")
class FeedForward(keras.layers.Layer):
    """Two-layer position-wise network with GELU: `W_2 gelu(W_1 x + b_1) + b_2`.

    Args:
        intermediate_dim: inner width.
        stddev: standard deviation of the initial weights.

    Call arguments:
        x: `[..., d]`.

    Returns:
        `[..., d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import FeedForward
        >>> FeedForward(intermediate_dim=8)(np.ones((2, 4), "float32")).shape
        TensorShape([2, 4])

    Reference: Nishida et al. 2019 (Masque), section 3.1.2; Hendrycks and Gimpel 2016 (exact GELU).
    """

    def __init__(self, intermediate_dim, stddev=0.02, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_dim = intermediate_dim
        self.stddev = stddev

    def build(self, input_shape):
        options = {"stddev": self.stddev, "dtype": self.dtype_policy}
        self.inner = linear(self.intermediate_dim, name="inner", **options)
        self.outer = linear(input_shape[-1], name="outer", **options)
        self.inner.build(input_shape)
        self.outer.build((*input_shape[:-1], self.intermediate_dim))

    def call(self, x):
        return self.outer(keras.activations.gelu(self.inner(x), approximate=False))

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "intermediate_dim": self.intermediate_dim,
            "stddev": self.stddev,
        }
