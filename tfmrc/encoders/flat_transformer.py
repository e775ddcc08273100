"""KerasHub's transformer layer, computed on a matrix of subwords; uses its private names.

KerasHub's own layer keeps the axes of windows and positions apart, so that a product, its bias and
its activation are separate passes over `[R, P, 4 d]`. On a matrix `[N, d]` TensorFlow fuses
them, on a CPU also the scale of the scores and their mask. The numbers are the same within
rounding, on every backend.
"""

from functools import partial
from typing import Any, TypeAlias

import keras
from keras import ops

from tfmrc.encoders.subword_rows import Subwords
from tfmrc.layers.base import Layer
from tfmrc.ops import normalization
from tfmrc.ops.attention import attend
from tfmrc.ops.dropout import drop
from tfmrc.ops.typing import Tensor

# A layer of Keras or KerasHub, whose private names have no types.
KerasHubLayer: TypeAlias = Any


def supports(layer: KerasHubLayer) -> bool:
    """Returns True for the layers of BERT's kind; DeBERTa's attention has another form.

    Layers that were quantized have integers as kernels, which only they can compute with.
    """
    if isinstance(layer, Layer):
        return True
    attention = getattr(layer, "_self_attention_layer", None)
    if not isinstance(attention, keras.layers.MultiHeadAttention) or layer.normalize_first:
        return False
    return layer._feedforward_output_dense.quantization_mode is None


def transformer_layer(
    layer: KerasHubLayer, x: Tensor, bias: Tensor, subwords: Subwords, training: bool
) -> Tensor:
    """Computes a layer of a backbone of BERT's kind.

    Args:
        layer: `keras_hub.layers.TransformerEncoder`, `ModernBertLayer` or `MobileBertLayer`.
        x: `[N, d]`, rows of subwords.
        bias: `[R, 1, 1, P]`, the result of `tfmrc.ops.masking.mask_bias`.
        subwords: `tfmrc.encoders.subword_rows.AllSubwords` or `RealSubwords`. The places of the
            rows in R windows of P positions.
        training: bool. Whether to apply dropout.

    Returns:
        `[N, d]`.
    """
    if isinstance(layer, Layer):
        return layer(x, bias=bias, subwords=subwords, training=training)
    update = self_attention(layer._self_attention_layer, x, bias, subwords, training)
    update = _drop(layer._self_attention_dropout, update, training)
    x = layer_norm(layer._self_attention_layer_norm, x + update, training)
    # Its inner values are eight times as long as `x`: the gradient computes them again.
    forward = partial(_feed_forward, layer)
    update = (keras.remat(forward) if training else forward)(x)
    update = _drop(layer._feedforward_dropout, update, training)
    return layer_norm(layer._feedforward_layer_norm, x + update, training)


def self_attention(
    layer: KerasHubLayer, x: Tensor, bias: Tensor, subwords: Subwords, training: bool
) -> Tensor:
    """Computes `softmax(Q K' / sqrt(d / H) + bias) V` of each head, and the output projection.

    Args:
        layer: `keras.layers.MultiHeadAttention`, H heads.
        x: `[N, d]`.
        bias: `[R, 1, 1, P]`.
        subwords: The places of the rows, as in `transformer_layer`.
        training: bool. Whether to apply dropout to the weights.

    Returns:
        `[N, d]`.
    """
    dense = layer.query_dense, layer.key_dense, layer.value_dense
    query, key, value = (subwords.to_heads(_project(part, x)) for part in dense)  # [R, H, P, d / H]
    key = ops.swapaxes(key, -1, -2)  # [R, H, d / H, P]
    rate, seed = layer.dropout, layer._dropout_layer.seed_generator if layer.dropout else None
    outputs = attend(query, key, value, bias, layer._inverse_sqrt_key_dim, training, rate, seed)
    return _project(layer.output_dense, subwords.from_heads(outputs))


def _feed_forward(layer: KerasHubLayer, x: Tensor) -> Tensor:
    inner = layer._feedforward_intermediate_dense
    return _project(layer._feedforward_output_dense, inner.activation(_project(inner, x)))


def _drop(layer: keras.layers.Dropout, x: Tensor, training: bool) -> Tensor:
    return drop(x, layer.rate, layer.seed_generator) if training and layer.rate > 0 else x


def _project(dense: KerasHubLayer, x: Tensor) -> Tensor:
    """Computes a `Dense` or `EinsumDense` as one product of matrices, `[N, i]` to `[N, o]`.

    The axis of heads and the one within a head are next to each other in kernel and bias.
    """
    kernel = ops.cast(ops.reshape(dense.kernel, (x.shape[-1], -1)), x.dtype)
    return ops.add(ops.matmul(x, kernel), ops.cast(ops.reshape(dense.bias, (-1,)), x.dtype))


def layer_norm(layer: KerasHubLayer, x: Tensor, training: bool = False) -> Tensor:
    """Computes `keras.layers.LayerNormalization` over the last axis, in float32."""
    return normalization.layer_norm(x, layer.gamma, layer.beta, layer.epsilon, training)
