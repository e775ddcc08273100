"""Stacked bidirectional LSTMs with maxout."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.bidirectional_lstm import BidirectionalLSTM
from tfmrc.ops.maxout import maxout


@keras.saving.register_keras_serializable(package="tfmrc")
class StackedBiLSTM(Layer):
    """Encodes words by stacked LSTMs: `y_i = maxout(BiLSTM_i([y_{i-1}; v]))`.

    All `y_i` are concatenated. `y_0 = x`; `v` is an optional contextual embedding (CoVe in the
    paper) that every layer reads. Maxout selects the larger of two neighbouring features, so each
    layer has `units` output features.

    Padding: as in `BidirectionalLSTM`; outputs at padding are zeros.

    Args:
        units: int. Width of one direction, and of a layer's output.
        num_layers: int. Number of layers. Default: 2.
        dropout: float. Variational dropout rate on the inputs of each layer. Default: 0.0.
        seed: int. Seed of the dropout. Default: None.

    Call arguments:
        x: `[..., n, d]`.
        padding_mask: boolean `[..., n]`, True = real; None for all real.
        contextual: `[..., n, v]` or None.
        training: bool. Whether to apply dropout.

    Returns:
        `[..., n, num_layers * units]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import StackedBiLSTM
        >>> tuple(StackedBiLSTM(units=3)(np.ones((2, 5, 4), "float32")).shape)
        (2, 5, 6)

    Reference: Liu et al. 2018 (SAN), section 2, contextual encoding layer.
    """

    def __init__(self, units, num_layers=2, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.num_layers = num_layers
        self.layers = [
            BidirectionalLSTM(
                units,
                dropout=dropout,
                seed=None if seed is None else seed + number,
                dtype=self.dtype_policy,
                name=f"lstm_{number + 1}",
            )
            for number in range(num_layers)
        ]

    def build(self, x_shape, padding_mask_shape=None, contextual_shape=None):
        extra = 0 if contextual_shape is None else contextual_shape[-1]
        width = x_shape[-1]
        for layer in self.layers:
            layer.build((*x_shape[:-1], width + extra))
            width = self.units

    def call(self, x, padding_mask=None, contextual=None, training=None):
        outputs = []
        for layer in self.layers:
            if contextual is not None:
                x = ops.concatenate([x, contextual], axis=-1)
            x = maxout(layer(x, padding_mask=padding_mask, training=training))  # [..., n, units]
            outputs.append(x)
        return ops.concatenate(outputs, axis=-1)

    def compute_output_shape(self, x_shape, padding_mask_shape=None, contextual_shape=None):
        return (*x_shape[:-1], self.num_layers * self.units)
