"""Encoder that concatenates several blocks."""

from typing import Any

import keras
from keras import ops

from tfmrc.layers.attention.tied_self_attention import TiedSelfAttention
from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.bidirectional_lstm import BidirectionalLSTM
from tfmrc.layers.encoders.feed_forward import FeedForward
from tfmrc.layers.encoders.layer_normalization import LayerNormalization
from tfmrc.layers.regularization.dropout import Dropout

BLOCKS = ("feed_forward", "lstm", "self_attention")


@keras.saving.register_keras_serializable(package="tfmrc")
class ConcatenatedEncoder(Layer):
    """Concatenates the normalized outputs of a feed-forward network, an LSTM and self-attention.

    `y = [LN(FFN(x)); LN(LSTM(x)); LN(SelfAttention(x))]`. Each block has the width `hidden_dim`, so
    the output has the total width of all blocks, 900 for the three of the paper. The two directions
    of a bidirectional LSTM have half this width each, so that bidirectional and causal encoders
    have the same width, as the paper's similarity of their outputs requires. The feed-forward
    network has two layers with a ReLU. Dropout applies to the encoder's input, between LSTM layers
    and to the attention weights.

    In a causal encoder no output depends on a later word, and `decode_step` computes the outputs
    word by word.

    Padding has no effect on real words; outputs at padding are undefined.

    Args:
        hidden_dim: int. Width of each block. Default: 300.
        num_lstm_layers: int. Number of LSTM layers. Default: 3.
        num_heads: int. Number of heads of the self-attention. Default: 4.
        causal: bool. Whether LSTM and self-attention read only previous words. Default: False.
        blocks: tuple of str. The blocks to include, of "feed_forward", "lstm" and "self_attention".
            Default: `BLOCKS`.
        in_series: bool. Whether each block reads the output of the previous block instead of the
            encoder's input. The output contains all blocks in both cases. Default: False.
        dropout: float. Dropout rate. Default: 0.0.

    Call arguments:
        x: `[B, n, hidden_dim]`.
        padding_mask: boolean `[B, n]`, True = real; real words come first.
        training: bool. Whether to apply dropout.

    Returns:
        `[B, n, len(blocks) * hidden_dim]`.

    Raises:
        ValueError: If a block is unknown, there is no block, or `hidden_dim` cannot be halved.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import ConcatenatedEncoder
        >>> x, mask = np.ones((2, 3, 8), "float32"), np.ones((2, 3), bool)
        >>> tuple(ConcatenatedEncoder(hidden_dim=8)(x, mask).shape)
        (2, 3, 24)

    Reference: Xiao et al. 2018 (DAANET), encoding layer and figure 3; daanet-05.
    """

    AXES = {"x": "B n d", "padding_mask": "B n"}

    def __init__(
        self,
        hidden_dim=300,
        num_lstm_layers=3,
        num_heads=4,
        causal=False,
        blocks=BLOCKS,
        in_series=False,
        dropout=0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if not blocks or not set(blocks) <= set(BLOCKS):
            raise ValueError(f"`blocks` must be among {BLOCKS}. Received: blocks={blocks!r}")
        if "lstm" in blocks and not causal and hidden_dim % 2:
            raise ValueError(
                "`hidden_dim` must be even for two directions. "
                f"Received: hidden_dim={hidden_dim}, causal={causal}"
            )
        self.hidden_dim = hidden_dim
        self.causal = causal
        self.blocks = tuple(block for block in BLOCKS if block in blocks)
        self.in_series = in_series
        options = {"dtype": self.dtype_policy}
        self.input_dropout = Dropout(dropout, name="dropout", **options)
        self.feed_forward: Any = None
        self.self_attention: Any = None
        if "feed_forward" in self.blocks:
            self.feed_forward = FeedForward(
                hidden_dim, None, hidden_dim, "relu", name="feed_forward", **options
            )
        if "self_attention" in self.blocks:
            self.self_attention = TiedSelfAttention(
                num_heads, causal, dropout, name="self_attention", **options
            )
        units = hidden_dim if causal else hidden_dim // 2
        self.lstm = [
            BidirectionalLSTM(units, causal, return_state=causal, name=f"lstm_{i}", **options)
            for i in range(1, num_lstm_layers + 1 if "lstm" in self.blocks else 1)
        ]
        self.norms = [LayerNormalization(name=f"{block}_norm", **options) for block in self.blocks]

    def build(self, x_shape):
        for layer in [self.feed_forward, *self.lstm, self.self_attention, *self.norms]:
            if layer is not None:
                layer.build(x_shape)

    def call(self, x, padding_mask=None, training=None):
        x = self.input_dropout(x, training=training)

        def lstm(words):
            for number, layer in enumerate(self.lstm):
                if number:
                    words = self.input_dropout(words, training=training)
                words = layer(words, padding_mask=padding_mask)
                words = words[0] if self.causal else words
            return words

        def self_attention(words):
            return self.self_attention(words, padding_mask, training=training)

        return self._join(x, {"lstm": lstm, "self_attention": self_attention})

    def _join(self, x, run):
        outputs = []
        for block, norm in zip(self.blocks, self.norms, strict=True):
            y = norm(run.get(block, self.feed_forward)(x))
            outputs.append(y)  # [..., hidden_dim]
            x = y if self.in_series else x
        return ops.concatenate(outputs, axis=-1)

    def init_cache(self, batch_size, num_beams, max_length):
        """Returns an empty cache for `max_length` steps, with leaves `[B, W, ...]`."""
        cache = {}
        if "lstm" in self.blocks:
            zeros = ops.zeros((batch_size, num_beams, self.hidden_dim), self.compute_dtype)
            cache["lstm"] = [[zeros, zeros] for _ in self.lstm]
        if "self_attention" in self.blocks:
            cache["attention"] = self.self_attention.init_cache(batch_size, num_beams, max_length)
        return cache

    def decode_step(self, x, cache, t):
        """Encodes one word per beam, `x` `[B, W, d]`, with a causal encoder.

        Returns:
            `[B, W, len(blocks) * hidden_dim]` and the new cache.
        """
        cache = dict(cache)

        def lstm(words):
            states = []
            for layer, state in zip(self.lstm, cache["lstm"], strict=True):
                words, state = layer.decode_step(words, state)
                states.append(state)
            cache["lstm"] = states
            return words

        def self_attention(words):
            attention = self.self_attention
            words, cache["attention"] = attention.decode_step(words, cache["attention"], t)
            return words

        return self._join(x, {"lstm": lstm, "self_attention": self_attention}), cache

    def compute_output_shape(self, x_shape):
        return (*x_shape[:-1], len(self.blocks) * self.hidden_dim)
