import keras

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.layer_normalization import LayerNormalization
from tfmrc.layers.regularization.dropout import Dropout


@keras.saving.register_keras_serializable(package="tfmrc")
class Residual(Layer):
    """Applies a post-norm residual connection: `LN(dropout(f(x)) + x)`.

    Args:
        dropout: float. Dropout rate on `f(x)`. Default: 0.0.

    Call arguments:
        x: `[..., d]`, the input of `f`.
        change: `[..., d]`, `f(x)`.

    Returns:
        `[..., d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import Residual
        >>> x = np.array([[1.0, 3.0]], "float32")
        >>> print(np.round(Residual()(x, 0 * x), 3))
        [[-1.  1.]]

    Reference: Nishida et al. 2019 (Masque), section 3.1.2, masque-01.
    """

    def __init__(self, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.dropout = dropout
        self.change_dropout = Dropout(dropout, dtype=self.dtype_policy, name="dropout")
        self.normalization = LayerNormalization(dtype=self.dtype_policy, name="normalization")

    def build(self, x_shape):
        self.normalization.build(x_shape)

    def call(self, x, change, training=None):
        return self.normalization(self.change_dropout(change, training=training) + x)  # masque-01

    def compute_output_shape(self, x_shape):
        return x_shape
