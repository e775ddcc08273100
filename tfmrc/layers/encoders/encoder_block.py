import keras
from keras import ops

from tfmrc.layers.attention.multi_head_attention import MultiHeadAttention
from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.bidirectional_lstm import BidirectionalLSTM
from tfmrc.layers.encoders.feed_forward import FeedForward
from tfmrc.layers.encoders.residual import Residual
from tfmrc.ops.shapes import flatten_leading
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class TransformerEncoderBlock(Layer):
    """Applies a post-norm Transformer encoder block: self-attention and a feed-forward network.

    `x <- LN(attention(x) + x)`, `x <- LN(feed_forward(x) + x)`. Padding is not attended to; outputs
    at padding are undefined and must be masked by the next layer.

    Args:
        num_heads: int. Number of attention heads.
        intermediate_dim: int. Inner width of the feed-forward network.
        dropout: float. Dropout rate on the attention weights and on each residual branch. Default:
            0.0.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        x: `[..., n, d]`.
        padding_mask: boolean `[..., n]`, True = real; None for all real.

    Returns:
        `[..., n, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import TransformerEncoderBlock
        >>> block = TransformerEncoderBlock(num_heads=2, intermediate_dim=8)
        >>> tuple(block(np.ones((2, 5, 4), "float32"), padding_mask=np.ones((2, 5), bool)).shape)
        (2, 5, 4)

    Reference: Nishida et al. 2019 (Masque), section 3.1.2, masque-01; Vaswani et al. 2017.
    """

    def __init__(self, num_heads, intermediate_dim, dropout=0.0, initializer=0.02, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_dim = intermediate_dim
        self.initializer = initializer
        dtype = self.dtype_policy
        self.attention = MultiHeadAttention(
            num_heads, dropout, initializer, dtype=dtype, name="attention"
        )
        self.attention_residual = Residual(dropout, dtype=dtype, name="attention_residual")
        self.second = self.second_sublayer()
        self.second_residual = Residual(dropout, dtype=dtype, name="second_residual")

    def second_sublayer(self):
        """Builds the layer after the self-attention; a subclass may return a different layer."""
        return FeedForward(
            self.intermediate_dim, self.initializer, dtype=self.dtype_policy, name="feed_forward"
        )

    def build(self, x_shape):
        self.attention.build(x_shape, x_shape)
        self.attention_residual.build(x_shape)
        self.second.build(x_shape)
        self.second_residual.build(x_shape)

    def call(self, x, padding_mask=None, training=None):
        if len(x.shape) > 3:  # of four axes TensorFlow fuses the scores, their scale and the mask
            mask = None if padding_mask is None else flatten_leading(padding_mask, keep=1)
            result = self.call(flatten_leading(x, keep=2), mask, training)
            return ops.reshape(result, sizes(x))
        attended = self.attention(x, x, attention_mask=padding_mask, training=training)
        x = self.attention_residual(x, attended, training=training)
        return self.second_residual(x, self.run_second(x, padding_mask), training=training)

    def run_second(self, x, padding_mask):
        """Applies the second sub-layer."""
        return self.second(x)

    def compute_output_shape(self, x_shape):
        return x_shape


@keras.saving.register_keras_serializable(package="tfmrc")
class RecurrentEncoderBlock(TransformerEncoderBlock):
    """Applies self-attention and a bidirectional LSTM, the block of "w/o Transformer".

    As `TransformerEncoderBlock`, with a bidirectional LSTM of `d / 2` per direction instead of the
    feed-forward network. The backward direction starts at the last real word. The paper only says
    that RNNs and self-attentions replace the Transformer "as in MCAN"; residual connections and
    widths are unchanged here. For the initial weights of the LSTM see `BidirectionalLSTM`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import RecurrentEncoderBlock
        >>> block = RecurrentEncoderBlock(num_heads=2, intermediate_dim=8)
        >>> tuple(block(np.ones((2, 5, 4), "float32"), padding_mask=np.ones((2, 5), bool)).shape)
        (2, 5, 4)

    Reference: Nishida et al. 2019 (Masque), Table 3; McCann et al. 2018.
    """

    def second_sublayer(self):
        return None  # created in `build`, because its width is that of the input

    def build(self, x_shape):
        self.second = BidirectionalLSTM(
            x_shape[-1] // 2, initializer=self.initializer, dtype=self.dtype_policy, name="lstm"
        )
        super().build(x_shape)

    def run_second(self, x, padding_mask):
        return self.second(x, padding_mask=padding_mask)
