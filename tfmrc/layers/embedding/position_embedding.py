import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.layer_normalization import LayerNormalization
from tfmrc.ops.positions import sinusoid
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class PositionEmbedding(Layer):
    """Adds positions to word vectors: `LN(x) + w * sinusoid(position)`, `w` trained.

    In the paper, ELMo encodes the order of words; this layer replaces it in a model without a
    contextual embedding. The vectors are normalized first, because word vectors drawn from
    N(0, 0.02) are small compared to sines and cosines.

    Args:
        scale: float. Initial value of `w` (one number per dimension). Default: 0.5.

    Call arguments:
        x: `[..., n, d]`, or `[..., d]` with `position`.
        position: scalar. The position of `x` in step-by-step decoding; None for positions from 0
            on along the second to last axis.

    Returns:
        The shape of `x`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import PositionEmbedding
        >>> layer = PositionEmbedding()
        >>> x = np.random.default_rng(0).normal(size=(2, 3, 8)).astype("float32")
        >>> whole, last = layer(x), layer(x[:, 2], position=2)
        >>> bool(np.allclose(whole[:, 2], last, atol=1e-6))
        True

    Reference: Vaswani et al. 2017, section 3.5; Devlin et al. 2019 for the normalisation.
    """

    def __init__(self, scale=0.5, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale
        self.normalization = LayerNormalization(dtype=self.dtype_policy, name="normalization")

    def build(self, x_shape):
        self.normalization.build(x_shape)
        self.weight = self.add_weight(
            shape=(x_shape[-1],),
            initializer=keras.initializers.Constant(self.scale),
            name="position_scale",
        )

    def call(self, x, position=None):
        positions = ops.arange(sizes(x)[-2]) if position is None else position
        angles = ops.cast(sinusoid(positions, x.shape[-1]), self.compute_dtype)
        return self.normalization(x) + ops.cast(self.weight, self.compute_dtype) * angles

    def compute_output_shape(self, x_shape):
        return x_shape
