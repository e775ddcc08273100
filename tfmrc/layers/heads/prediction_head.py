"""What ModernBERT's models have between their encoder and their scores."""

import keras

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.layer_normalization import LayerNormalization
from tfmrc.ops.gelu import exact_gelu


@keras.saving.register_keras_serializable(package="tfmrc")
class PredictionHead(Layer):
    """Computes `norm(gelu(W x))`, without biases.

    Padding: positions are independent.

    Args:
        epsilon: float. Epsilon of the layer normalization. Default: 1e-5.
        norm_bias: bool. Whether the layer normalization has a bias. Default: False.

    Call arguments:
        x: `[B, n, d]`.
        training: bool. Default: False.

    Returns:
        `[B, n, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import PredictionHead
        >>> tuple(PredictionHead()(np.ones((1, 2, 4))).shape)
        (1, 2, 4)

    Reference: Warner et al. 2024.
    """

    def __init__(self, epsilon=1e-5, norm_bias=False, **kwargs):
        super().__init__(**kwargs)
        self.norm = LayerNormalization(
            epsilon, center=norm_bias, dtype=self.dtype_policy, name="norm"
        )

    def build(self, x_shape):
        width = x_shape[-1]
        self.dense = self.add_dense("dense", width, width, initializer=0.02, use_bias=False)
        self.norm.build((None, width))

    def call(self, x, training=False):
        return self.norm(exact_gelu(self.dense(x)), training=training)

    def compute_output_shape(self, x_shape):
        return x_shape
