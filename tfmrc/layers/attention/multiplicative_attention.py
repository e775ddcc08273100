"""Multiplicative attention."""

import keras
from keras import ops

from tfmrc.layers.base import Layer, float32_spec
from tfmrc.layers.encoders.linear import linear
from tfmrc.layers.recording import record
from tfmrc.ops.masking import masked_log_softmax


@keras.saving.register_keras_serializable(package="tfmrc")
class MultiplicativeAttention(Layer):
    """Computes scaled multiplicative attention and its log-weights, which a pointer copies with.

    `s(X, Y) = softmax(X U (Y V)^T / sqrt(d))`, d the width of X, and `s(X, Y) Y`. `Y V` does not
    depend on X; `project` computes it once.

    If Y is all padding, weights and sum are zero.

    Args:
        attention_dim: int. Width of both projections.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one, None Glorot uniform. Default: None.

    Call arguments:
        x: `[B, m, d]`.
        y: `[B, n, e]`.
        y_mask: boolean `[B, n]`, True = real.
        log_prior: `[B, n]` log of the positions' prior weights; None for no prior.
        projected: The output of `project(y)`; computed here if None.

    Returns:
        Log-weights `[B, m, n]` (float32, `LOG_ZERO` at padding) and the sum `[B, m, e]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import MultiplicativeAttention
        >>> x, y = np.ones((1, 2, 4), "float32"), np.ones((1, 3, 5), "float32")
        >>> log_weights, total = MultiplicativeAttention(8)(x, y, np.ones((1, 3), bool))
        >>> tuple(log_weights.shape), tuple(total.shape)
        ((1, 2, 3), (1, 2, 5))

    Reference: Xiao et al. 2018 (DAANET), attention layer, daanet-06.
    """

    AXES = {"x": "B m d", "y": "B n e", "y_mask": "B n"}

    def __init__(self, attention_dim, initializer=None, **kwargs):
        super().__init__(**kwargs)
        options = {"initializer": initializer, "use_bias": False, "dtype": self.dtype_policy}
        self.query_projection = linear(attention_dim, name="query", **options)  # U
        self.key_projection = linear(attention_dim, name="key", **options)  # V

    def build(self, x_shape, y_shape):
        self.query_projection.build(x_shape)
        self.key_projection.build(y_shape)

    def project(self, y):
        """Returns `Y V` `[B, n, attention_dim]`."""
        return self.key_projection(y)

    def call(self, x, y, y_mask, log_prior=None, projected=None):
        keys = self.project(y) if projected is None else projected
        queries = self.query_projection(x) * float(x.shape[-1]) ** -0.5
        scores = ops.matmul(queries, ops.swapaxes(keys, 1, 2))  # [B, m, n]
        if log_prior is not None:
            scores = ops.cast(scores, "float32") + ops.cast(log_prior, "float32")[:, None, :]
        log_weights = masked_log_softmax(scores, y_mask[:, None, :])  # daanet-06
        weights = record(self.name, ops.cast(ops.exp(log_weights), self.compute_dtype))
        return log_weights, ops.matmul(weights, y)  # [B, m, e]

    def compute_output_spec(self, x, y, y_mask, log_prior=None, projected=None):
        context = (*x.shape[:2], y.shape[-1])
        return (float32_spec(x, y.shape[1]), keras.KerasTensor(context, dtype=self.compute_dtype))
