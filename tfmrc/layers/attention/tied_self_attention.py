"""Self-attention with one projection."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops.masking import masked_softmax
from tfmrc.ops.shapes import reshape_size, split_heads
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class TiedSelfAttention(Layer):
    """Computes multi-head self-attention with one projection for queries and keys.

    `softmax(x R (x R)^T / sqrt(d / H)) x`: the words themselves are the values, and there is no
    output projection. Head h uses its part of `x R` as query and key, and its part of `x` as value.

    Two departures from the paper. It prints the scale `1 / sqrt(d)`; here it is `1 / sqrt(d / H)`,
    the deviation of a dot product over the `d / H` features of one head. Its causal mask is 0 where
    `i < j`, so the first word has nothing to attend to; here a word attends to itself and the
    previous words, as the paper's text says.

    Padding is not attended to; a row without any word gives zeros.

    Args:
        num_heads: int. Number of heads H, a divisor of d. Default: 4.
        causal: bool. Whether a word attends only to itself and previous words. Default: False.
        dropout: float. Dropout rate on the attention weights. Default: 0.0.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one, None Glorot uniform. Default: None.

    Call arguments:
        x: `[B, n, d]`.
        padding_mask: boolean `[B, n]`, True = real; None for all real.
        training: bool. Whether to apply dropout.

    Returns:
        `[B, n, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import TiedSelfAttention
        >>> x = np.random.default_rng(0).normal(size=(1, 3, 4)).astype("float32")
        >>> y = np.array(TiedSelfAttention(num_heads=2, causal=True)(x))
        >>> bool(np.allclose(y[0, 0], x[0, 0]))  # the first word attends only to itself
        True

    Reference: Xiao et al. 2018 (DAANET), encoding layer, daanet-05.
    """

    AXES = {"x": "B n d", "padding_mask": "B n"}

    def __init__(self, num_heads=4, causal=False, dropout=0.0, initializer=None, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.causal = causal
        self.dropout = dropout
        self.initializer = initializer
        self.weight_dropout = Dropout(dropout, dtype=self.dtype_policy, name="weight_dropout")

    def build(self, x_shape):
        self.dim = x_shape[-1]
        self.projection = self.add_dense(
            "projection", self.dim, self.dim, initializer=self.initializer, use_bias=False
        )

    def call(self, x, padding_mask=None, training=None):
        keys = split_heads(self.projection(x), self.num_heads)  # [B, H, n, d / H]
        mask = None if padding_mask is None else padding_mask[:, None, None, :]
        if self.causal:
            position = ops.arange(sizes(x)[1])
            past = position[None, :] <= position[:, None]  # [n, n]
            mask = past if mask is None else ops.logical_and(mask, past)
        values = split_heads(x, self.num_heads)
        return self._attend(keys, keys, values, mask, training)

    def _attend(self, queries, keys, values, mask, training=None):
        scale = float(self.dim // self.num_heads) ** -0.5
        scores = ops.matmul(queries * scale, ops.swapaxes(keys, -1, -2))  # [..., H, m, n]
        weights = masked_softmax(scores, mask)  # daanet-05
        weights = self.weight_dropout(weights, training=training)
        heads = ops.swapaxes(ops.matmul(weights, values), -2, -3)  # [..., m, H, d / H]
        return ops.reshape(heads, (*reshape_size(heads)[:-2], self.dim))

    def init_cache(self, batch_size, num_beams, max_length):
        """Returns an empty cache of keys and values, `[B, W, H, max_length, d / H]` each."""
        heads = self.num_heads, max_length, self.dim // self.num_heads
        empty = ops.zeros((batch_size, num_beams, *heads), self.compute_dtype)
        return {"keys": empty, "values": empty}

    def decode_step(self, x, cache, t):
        """Computes one step of causal attention; `x` `[B, W, d]` is step `t`.

        Returns:
            The output `[B, W, d]` and the cache with step `t`.
        """
        position = (0, 0, 0, t, 0)
        x = x[:, :, None, :]  # [B, W, 1, d]
        query = split_heads(self.projection(x), self.num_heads)  # [B, W, H, 1, d / H]
        keys = ops.slice_update(cache["keys"], position, query)
        values = ops.slice_update(cache["values"], position, split_heads(x, self.num_heads))
        past = ops.arange(keys.shape[-2]) <= t
        output = self._attend(query, keys, values, past)
        return output[:, :, 0, :], {"keys": keys, "values": values}

    def compute_output_shape(self, x_shape):
        return x_shape
