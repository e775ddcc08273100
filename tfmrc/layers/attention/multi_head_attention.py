import keras
from keras import ops

from tfmrc.layers.encoders.linear import linear
from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops.masking import masked_softmax
from tfmrc.ops.shapes import reshape_size, split_heads


@keras.saving.register_keras_serializable(package="tfmrc")
class MultiHeadAttention(keras.layers.Layer):
    """Computes multi-head attention with explicit masks and a decoding cache.

    A query without a real position to attend to gives the output bias only, because its attention
    is all zeros. Keras' layer gives the mean of the padding instead.

    Args:
        num_heads: int. Number of heads H, a divisor of the query's width d.
        dropout: float. Dropout rate on the attention weights. Default: 0.0.
        stddev: float. Standard deviation of the initial weights. Default: 0.02.

    Call arguments:
        query: `[..., m, d]`.
        memory: `[..., n, d']` with the same leading axes.
        attention_mask: boolean, True = real; `[..., n]` (a padding mask for all queries) or
            `[..., m, n]`. Leading axes may have size 1.

    Returns:
        `[..., m, d]`.

    Raises:
        ValueError: `num_heads` does not divide the width.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import MultiHeadAttention
        >>> attention = MultiHeadAttention(num_heads=2)
        >>> x = np.ones((1, 3, 4), "float32")
        >>> tuple(attention(x, x, attention_mask=np.array([[True, True, False]])).shape)
        (1, 3, 4)

    Reference: Vaswani et al. 2017, section 3.2; Nishida et al. 2019 (Masque), section 3.1.2.
    """

    def __init__(self, num_heads, dropout=0.0, stddev=0.02, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.dropout = dropout
        self.stddev = stddev
        self.weight_dropout = Dropout(dropout, dtype=self.dtype_policy, name="weight_dropout")

    def build(self, query_shape, memory_shape):
        dim = query_shape[-1]
        if dim % self.num_heads:
            raise ValueError(
                "The number of heads must divide the query's width. "
                f"Received: num_heads={self.num_heads}, query.shape={query_shape}"
            )
        options = {"stddev": self.stddev, "dtype": self.dtype_policy}
        self.query_projection = linear(dim, name="query", **options)
        self.key_projection = linear(dim, name="key", **options)
        self.value_projection = linear(dim, name="value", **options)
        self.output_projection = linear(dim, name="output", **options)
        self.query_projection.build(query_shape)
        self.key_projection.build(memory_shape)
        self.value_projection.build(memory_shape)
        self.output_projection.build(query_shape)

    def call(self, query, memory, attention_mask=None, training=None):
        keys, values = self.project(memory)
        return self.attend(query, keys, values, attention_mask, training=training)

    def project(self, memory):
        """Returns keys and values `[..., H, n, d / H]`, which decoding computes once."""
        return self._split(self.key_projection(memory)), self._split(self.value_projection(memory))

    def attend(self, query, keys, values, attention_mask=None, training=None):
        """Attends to the keys and values of `project`; other arguments as in the call."""
        mask = attention_mask
        scale = float(keys.shape[-1]) ** -0.5
        queries = self._split(self.query_projection(query) * scale)  # [..., H, m, d / H]
        scores = ops.matmul(queries, ops.swapaxes(keys, -1, -2))  # [..., H, m, n]
        if mask is not None:
            if len(mask.shape) == len(query.shape) - 1:
                mask = mask[..., None, :]  # [..., 1, n]: the same positions for every query
            mask = mask[..., None, :, :]  # [..., 1, m, n]: the same positions for every head
        weights = self.weight_dropout(masked_softmax(scores, mask), training=training)
        heads = ops.swapaxes(ops.matmul(weights, values), -2, -3)  # [..., m, H, d / H]
        return self.output_projection(ops.reshape(heads, reshape_size(query)))

    def init_cache(self, batch_size, num_beams, max_length, dim):
        """Returns an empty cache of keys and values, `[B, W, H, max_length, d / H]` each."""
        shape = (batch_size, num_beams, self.num_heads, max_length, dim // self.num_heads)
        return {
            "keys": ops.zeros(shape, self.compute_dtype),
            "values": ops.zeros(shape, self.compute_dtype),
        }

    def decode_step(self, x, cache, t):
        """Computes one step of causal self-attention; `x` `[B, W, d]` is step `t`.

        Returns:
            The output `[B, W, d]` and the cache with step `t`.
        """
        position = (0, 0, 0, t, 0)
        key, value = self.project(x[:, :, None, :])
        keys = ops.slice_update(cache["keys"], position, key)
        values = ops.slice_update(cache["values"], position, value)
        past = ops.arange(keys.shape[-2]) <= t  # [T]
        # Each beam is a sequence with one query: [B, W, 1, d] over [B, W, H, T, d/H].
        output = self.attend(x[:, :, None, :], keys, values, past[None, None, None, :])
        return output[:, :, 0, :], {"keys": keys, "values": values}

    def _split(self, x):
        return split_heads(x, self.num_heads)

    def compute_output_shape(self, query_shape, memory_shape):
        return query_shape

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "dropout": self.dropout,
            "stddev": self.stddev,
        }
