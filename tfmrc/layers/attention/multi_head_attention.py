import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops.attention import attend, scores
from tfmrc.ops.masking import biased_softmax, mask_bias, masked_softmax
from tfmrc.ops.shapes import heads_to_rows, reshape_size, rows_to_heads, split_heads


@keras.saving.register_keras_serializable(package="tfmrc")
class MultiHeadAttention(Layer):
    """Computes multi-head attention with explicit masks and a decoding cache.

    A query without a real position to attend to gives the output bias only, because its attention
    is all zeros. Keras' layer gives the mean of the padding instead.

    Args:
        num_heads: int. Number of heads H, a divisor of the query's width d.
        dropout: float. Dropout rate on the attention weights. Default: 0.0.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        query: `[..., m, d]`.
        memory: `[..., n, d']` with the same leading axes.
        attention_mask: boolean, True = real; `[..., n]` (a padding mask for all queries) or
            `[..., m, n]`. Leading axes may have size 1.

    Returns:
        `[..., m, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import MultiHeadAttention
        >>> attention = MultiHeadAttention(num_heads=2)
        >>> x = np.ones((1, 3, 4), "float32")
        >>> tuple(attention(x, x, attention_mask=np.array([[True, True, False]])).shape)
        (1, 3, 4)

    Reference: Vaswani et al. 2017, section 3.2; Nishida et al. 2019 (Masque), section 3.1.2.
    """

    def __init__(self, num_heads, dropout=0.0, initializer=0.02, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.dropout = dropout
        self.initializer = initializer
        self.weight_dropout = Dropout(dropout, dtype=self.dtype_policy, name="weight_dropout")

    def build(self, query_shape, memory_shape):
        dim, width = query_shape[-1], memory_shape[-1]
        options = {"initializer": self.initializer}
        self.query_projection = self.add_dense("query", dim, dim, **options)
        self.key_projection = self.add_dense("key", dim, width, **options)
        self.value_projection = self.add_dense("value", dim, width, **options)
        self.output_projection = self.add_dense("output", dim, dim, **options)

    def call(self, query, memory, attention_mask=None, training=None):
        own = attention_mask is not None and len(attention_mask.shape) == len(query.shape)
        projected = self.project(memory, None if own else attention_mask)
        queries = split_heads(self.query_projection(query), self.num_heads)  # [..., H, m, d / H]
        if own:  # [..., 1, m, n]: each query's own positions, the same for every head
            given = scores(queries, projected["keys"], self._scale)
            weights = masked_softmax(given, attention_mask[..., None, :, :])
            weights = self.weight_dropout(weights, training=training)
            heads = ops.matmul(weights, projected["values"])
        else:
            heads = attend(
                queries,
                **projected,
                scale=self._scale,
                training=training,
                rate=self.dropout,
                seed=self.weight_dropout.seed_generator,
            )
        heads = ops.swapaxes(heads, -2, -3)  # [..., m, H, d / H]
        return self.output_projection(ops.reshape(heads, reshape_size(query)))

    def project(self, memory, mask=None):
        """Returns what all queries, or all steps of decoding, read of a memory.

        Args:
            memory: `[..., n, d']`.
            mask: boolean `[..., n]`, True = real; None for all real.

        Returns:
            A dict: `keys` `[..., H, d / H, n]`, in the order in which they are read; `values`
            `[..., H, n, d / H]`, zeros at padding, so that without a real position the result is
            zero whatever the weights; `bias` `[..., 1, 1, n]`, see `tfmrc.ops.masking.mask_bias`.
        """
        keys = split_heads(self.key_projection(memory), self.num_heads, columns=True)
        values = split_heads(self.value_projection(memory), self.num_heads)
        if mask is None:
            return {"keys": keys, "values": values, "bias": 0.0}
        return {
            "keys": ops.where(mask[..., None, None, :], keys, 0.0),
            "values": ops.where(mask[..., None, :, None], values, 0.0),
            "bias": mask_bias(mask)[..., None, None, :],
        }

    # === Decoding, on rows [B Q, d]: the Q queries (beams, or given words) of each example ===

    def attend(self, rows, projected, num_queries):
        """Attends from rows `[B Q, d]` to a memory as `project` returned it: `[B Q, d]`."""
        queries = rows_to_heads(self.query_projection(rows), num_queries, self.num_heads)
        heads = attend(queries, **projected, scale=self._scale)
        return self.output_projection(heads_to_rows(heads))

    def init_cache(self, batch_size, num_beams, max_length, dim):
        """Returns an empty cache of keys and values, `[B, W, H, max_length, d / H]` each."""
        shape = (batch_size, num_beams, self.num_heads, max_length, dim // self.num_heads)
        empty = ops.zeros(shape, self.compute_dtype)
        return {"keys": empty, "values": empty}

    def join_projections(self):
        """Returns kernel `[d, 3 d]` and bias of queries, keys and values, which steps need at once.

        The queries' part has the scale of the scores.
        """
        layers = [self.query_projection, self.key_projection, self.value_projection]
        kernels, biases = [layer.kernel for layer in layers], [layer.bias for layer in layers]
        kernels[0], biases[0] = kernels[0] * self._scale, biases[0] * self._scale
        return {
            "kernel": ops.cast(ops.concatenate(kernels, axis=1), self.compute_dtype),
            "bias": ops.cast(ops.concatenate(biases, axis=0), self.compute_dtype),
        }

    def decode_step(self, rows, cache, t, joined):
        """Computes one step of causal self-attention.

        Args:
            rows: `[B W, d]`, the words of step `t`.
            cache: What `init_cache` or the step before returned.
            t: int scalar. The step, from 0.
            joined: The result of `join_projections`.

        Returns:
            The output `[B W, d]` and the cache with step `t`.
        """
        _, num_beams, num_heads, length, width = cache["keys"].shape
        position = (0, 0, 0, t, 0)
        projected = ops.add(ops.matmul(rows, joined["kernel"]), joined["bias"])  # [B W, 3 d]
        projected = ops.reshape(projected, (-1, num_beams, 3, num_heads, 1, width))
        query, key, value = ops.unstack(projected, 3, axis=2)  # [B, W, H, 1, d / H] each
        keys = ops.slice_update(cache["keys"], position, key)  # [B, W, H, T, d / H]
        values = ops.slice_update(cache["values"], position, value)
        scores = ops.matmul(query, ops.swapaxes(keys, -1, -2))  # [B, W, H, 1, T]
        weights = biased_softmax(scores, mask_bias(ops.arange(length) <= t))
        heads = ops.reshape(ops.matmul(weights, values), (-1, num_heads * width))  # [B W, d]
        return self.output_projection(heads), {"keys": keys, "values": values}

    @property
    def _scale(self):
        return float(self.query_projection.units // self.num_heads) ** -0.5

    def compute_output_shape(self, query_shape, memory_shape):
        return query_shape
