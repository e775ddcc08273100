from typing import Any

import keras
from keras import ops

from tfmrc.layers.attention.multi_head_attention import MultiHeadAttention
from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.bidirectional_lstm import BidirectionalLSTM
from tfmrc.layers.encoders.feed_forward import FeedForward
from tfmrc.layers.encoders.residual import Residual
from tfmrc.ops.shapes import flatten_leading, restore_leading
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class TransformerDecoderBlock(Layer):
    """Applies a post-norm Transformer decoder block over several memories.

    Causal self-attention, then attention to each memory in order (Masque: the question, then all
    passages concatenated), then a feed-forward network; each as `LN(f(x) + x)`.

    For decoding, `init_cache` returns an empty cache of keys and values for the self-attention,
    `project` computes once what all steps read, the keys and values of the memories among it, and
    `decode_step` computes one word per beam. Beams share the memories of their example, which are
    never copied per beam.

    Args:
        num_heads: int. Number of attention heads.
        intermediate_dim: int. Inner width of the feed-forward network.
        num_memories: int. Number of memories. Default: 2.
        dropout: float. Dropout rate on the attention weights and on each residual branch. Default:
            0.0.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        x: `[B, T, d]`.
        memories: a list of `[B, S_i, d]`.
        memory_masks: a list of boolean `[B, S_i]`, True = real.
        projected: The result of `project`, for given words outside training; computed here if None.

    Returns:
        `[B, T, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import TransformerDecoderBlock
        >>> block = TransformerDecoderBlock(num_heads=2, intermediate_dim=8, num_memories=1)
        >>> x, memory = np.ones((2, 3, 4), "float32"), np.ones((2, 5, 4), "float32")
        >>> tuple(block(x, [memory], [np.ones((2, 5), bool)]).shape)
        (2, 3, 4)

    Reference: Nishida et al. 2019 (Masque), section 3.4.2, masque-01; Vaswani et al. 2017.
    """

    def __init__(
        self, num_heads, intermediate_dim, num_memories=2, dropout=0.0, initializer=0.02, **kwargs
    ):
        # Keras would cast the float32 bias in `projected` to half precision, which has no -1e9.
        super().__init__(autocast=False, **kwargs)
        self.num_heads = num_heads
        self.dropout = dropout
        self.initializer = initializer
        options = {"dtype": self.dtype_policy}
        drawn = {**options, "initializer": initializer}
        self.past: Any = None
        self.past_residual = Residual(dropout, name="past_residual", **options)
        self.memory_attentions = [
            MultiHeadAttention(num_heads, dropout, name=f"memory_attention_{i}", **drawn)
            for i in range(num_memories)
        ]
        self.memory_residuals = [
            Residual(dropout, name=f"memory_residual_{i}", **options) for i in range(num_memories)
        ]
        self.feed_forward = FeedForward(intermediate_dim, name="feed_forward", **drawn)
        self.feed_forward_residual = Residual(dropout, name="feed_forward_residual", **options)

    def build(self, x_shape, memories_shape):
        self.past = self.build_past(x_shape)
        for attention, shape in zip(self.memory_attentions, memories_shape, strict=True):
            attention.build(x_shape, shape)
        self.feed_forward.build(x_shape)
        for residual in [self.past_residual, *self.memory_residuals, self.feed_forward_residual]:
            residual.build(x_shape)

    def call(self, x, memories, memory_masks, projected=None, training=None):
        x = ops.cast(x, self.compute_dtype)
        x = self.past_residual(x, self.run_past(x, training), training=training)
        if projected is not None:
            rows = flatten_leading(x, keep=1)  # [B T, d]
            rows = self._attend_and_feed(rows, projected, sizes(x)[1])
            return restore_leading(rows, like=x)
        for attention, residual, memory, mask in zip(
            self.memory_attentions, self.memory_residuals, memories, memory_masks, strict=True
        ):
            change = attention(x, memory, attention_mask=mask, training=training)
            x = residual(x, change, training=training)
        return self.feed_forward_residual(x, self.feed_forward(x), training=training)

    def project(self, memories, memory_masks):
        """Returns what all steps of decoding read: `past` and, for each memory, `memories`."""
        projected = [
            attention.project(memory, mask)
            for attention, memory, mask in zip(
                self.memory_attentions, memories, memory_masks, strict=True
            )
        ]
        return {"past": self.project_past(), "memories": projected}

    def decode_step(self, x, cache, t, projected):
        """Computes one step; `x` `[B, W, d]` are the beams' words at step `t`.

        Returns:
            The output `[B, W, d]` and the cache with step `t`.
        """
        rows = flatten_leading(x, keep=1)  # products of matrices, which TensorFlow fuses
        past, cache = self.step_past(rows, cache, t, projected["past"])
        rows = self._attend_and_feed(self.past_residual(rows, past), projected, x.shape[1])
        return restore_leading(rows, like=x), cache

    def _attend_and_feed(self, rows, projected, queries):
        """Applies the other sub-layers to rows `[B Q, d]`, Q queries of each example."""
        for attention, residual, memory in zip(
            self.memory_attentions, self.memory_residuals, projected["memories"], strict=True
        ):
            rows = residual(rows, attention.attend(rows, memory, queries))
        return self.feed_forward_residual(rows, self.feed_forward(rows))

    # The first sub-layer reads the previous words. A subclass may replace it.

    def build_past(self, x_shape):
        """Returns the first sub-layer."""
        layer = MultiHeadAttention(
            self.num_heads, self.dropout, self.initializer, name="past", dtype=self.dtype_policy
        )
        layer.build(x_shape, x_shape)
        return layer

    def run_past(self, x, training):
        """Applies the first sub-layer to all words `[B, T, d]`."""
        positions = ops.arange(sizes(x)[1])
        causal = positions[None, None, :] <= positions[None, :, None]  # [1, T, T]
        return self.past(x, x, attention_mask=causal, training=training)

    def init_cache(self, batch_size, num_beams, max_length, dim):
        """Returns an empty cache for `max_length` steps, with leaves `[B, W, ...]`."""
        return self.past.init_cache(batch_size, num_beams, max_length, dim)

    def project_past(self):
        """Returns what all steps of the first sub-layer read."""
        return self.past.join_projections()

    def step_past(self, rows, cache, t, projected):
        """Applies the first sub-layer to the words `[B W, d]` of step `t`."""
        return self.past.decode_step(rows, cache, t, projected)

    def compute_output_shape(self, x_shape, memories_shape):
        return x_shape


@keras.saving.register_keras_serializable(package="tfmrc")
class RecurrentDecoderBlock(TransformerDecoderBlock):
    """Applies a decoder block with an LSTM, the block of "w/o Transformer".

    As `TransformerDecoderBlock`, with a forward LSTM of width `d` instead of the causal
    self-attention. The cache contains its two states. For its initial weights see
    `BidirectionalLSTM`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import RecurrentDecoderBlock
        >>> block = RecurrentDecoderBlock(num_heads=2, intermediate_dim=8, num_memories=1)
        >>> x, memory = np.ones((2, 3, 4), "float32"), np.ones((2, 5, 4), "float32")
        >>> tuple(block(x, [memory], [np.ones((2, 5), bool)]).shape)
        (2, 3, 4)

    Reference: Nishida et al. 2019 (Masque), Table 3; McCann et al. 2018.
    """

    def build_past(self, x_shape):
        options = {"initializer": self.initializer, "dtype": self.dtype_policy}
        layer = BidirectionalLSTM(x_shape[-1], causal=True, name="past", **options)
        layer.build(x_shape)
        return layer

    def run_past(self, x, training):
        return self.past(x, training=training)

    def init_cache(self, batch_size, num_beams, max_length, dim):
        shape = (batch_size, num_beams, dim)
        empty = ops.zeros(shape, self.compute_dtype)
        return {"hidden": empty, "cell": empty}

    def project_past(self):
        return ()

    def step_past(self, rows, cache, t, projected):
        x = restore_leading(rows, like=cache["hidden"])  # [B, W, d]
        x, (hidden, cell) = self.past.decode_step(x, [cache["hidden"], cache["cell"]])
        return flatten_leading(x, keep=1), {"hidden": hidden, "cell": cell}
