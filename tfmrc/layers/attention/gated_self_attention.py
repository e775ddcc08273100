import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.recording import record
from tfmrc.ops.masking import masked_softmax


@keras.saving.register_keras_serializable(package="tfmrc")
class GatedSelfAttention(Layer):
    """Computes self-attention over the passage and adds it through a gate.

    With `U` the words as columns, `a_t = softmax(U^T W_s u_t)` and `s_t = U a_t`; then
    `f = tanh(W_f [u; s])`, `g = sigmoid(W_g [u; s])` and the output is `g f + (1 - g) u`.

    Padding is not attended to; outputs at padding are undefined.

    Args:
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one, None Glorot uniform. Default: None.

    Call arguments:
        x: `[B, n, d]`.
        padding_mask: boolean `[B, n]`, True = real.

    Returns:
        `[B, n, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import GatedSelfAttention
        >>> layer = GatedSelfAttention()
        >>> tuple(layer(np.ones((2, 5, 4), "float32"), np.ones((2, 5), bool)).shape)
        (2, 5, 4)

    Reference: Zhao et al. 2018, section 2.2, qg-02 to qg-06. No biases, as printed.
    """

    AXES = {"x": "B n d", "padding_mask": "B n"}

    def __init__(self, initializer=None, **kwargs):
        super().__init__(**kwargs)
        self.initializer = initializer

    def build(self, x_shape):
        dim, options = x_shape[-1], {"use_bias": False, "initializer": self.initializer}
        self.matching = self.add_dense("matching", dim, dim, **options)
        self.fusion = self.add_dense("fusion", dim, 2 * dim, **options)
        self.gate = self.add_dense("gate", dim, 2 * dim, **options)

    def call(self, x, padding_mask):
        scores = ops.matmul(self.matching(x), ops.swapaxes(x, 1, 2))  # [B, n, n]
        weights = record(self.name, masked_softmax(scores, padding_mask[:, None, :]))  # qg-02
        matched = ops.matmul(weights, x)  # qg-03
        both = ops.concatenate([x, matched], axis=-1)  # [B, n, 2d]
        candidate = ops.tanh(self.fusion(both))  # [B, n, d], qg-04
        gate = ops.sigmoid(self.gate(both))  # qg-05
        return x + gate * (candidate - x)  # qg-06

    def compute_output_shape(self, x_shape):
        return x_shape
