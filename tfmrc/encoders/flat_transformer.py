"""KerasHub's transformer layer, computed on a matrix of all subwords; uses its private names.

KerasHub's own layer keeps the axes of windows and positions apart, so that a product, its bias and
its activation are separate passes over `[R, P, 4 d]`. On the matrix `[R P, d]` TensorFlow fuses
them, on a CPU also the scale of the scores and their mask. The numbers are the same within
rounding, on every backend.
"""

from functools import partial
from typing import Any

import keras
from keras import ops

from tfmrc.ops import normalization
from tfmrc.ops.attention import attend
from tfmrc.ops.dropout import drop
from tfmrc.ops.shapes import flatten_leading
from tfmrc.sizes import sizes

__all__ = ["layer_norm", "supports", "transformer_layer"]


def supports(layer: Any) -> bool:
    """Returns True for the layers of BERT's kind; DeBERTa's attention has another form."""
    attention = getattr(layer, "_self_attention_layer", None)
    return isinstance(attention, keras.layers.MultiHeadAttention) and not layer.normalize_first


def transformer_layer(layer: Any, x: Any, bias: Any, training: bool) -> Any:
    """Computes a layer of a KerasHub backbone of BERT's kind.

    Args:
        layer: `keras_hub.layers.TransformerEncoder`.
        x: `[R, P, d]`, R windows of P subwords.
        bias: `[R, 1, 1, P]`, the result of `tfmrc.ops.masking.mask_bias`.
        training: bool. Whether to apply dropout.

    Returns:
        `[R, P, d]`.
    """
    shape = sizes(x)
    x = flatten_leading(x, keep=1)
    update = self_attention(layer._self_attention_layer, x, bias, shape[:2], training)
    update = _drop(layer._self_attention_dropout, update, training)
    x = layer_norm(layer._self_attention_layer_norm, x + update, training)
    # Its inner values are eight times as long as `x`: the gradient computes them again.
    forward = partial(_feed_forward, layer)
    update = (keras.remat(forward) if training else forward)(x)
    update = _drop(layer._feedforward_dropout, update, training)
    x = layer_norm(layer._feedforward_layer_norm, x + update, training)
    return ops.reshape(x, shape)


def self_attention(layer: Any, x: Any, bias: Any, sizes: Any, training: bool) -> Any:
    """Computes `softmax(Q K' / sqrt(d / H) + bias) V` of each head, and the output projection.

    Args:
        layer: `keras.layers.MultiHeadAttention`, H heads.
        x: `[R P, d]`.
        bias: `[R, 1, 1, P]`.
        sizes: R and P.
        training: bool. Whether to apply dropout to the weights.

    Returns:
        `[R P, d]`.
    """

    def heads(dense: Any, order: tuple[int, ...]) -> Any:
        split = (*sizes, layer.num_heads, layer.key_dim)
        return ops.transpose(ops.reshape(_project(dense, x), split), order)

    query, value = (heads(part, (0, 2, 1, 3)) for part in (layer.query_dense, layer.value_dense))
    key = heads(layer.key_dense, (0, 2, 3, 1))  # [R, H, d / H, P]
    rate, seed = layer.dropout, layer._dropout_layer.seed_generator if layer.dropout else None
    outputs = attend(query, key, value, bias, layer._inverse_sqrt_key_dim, training, rate, seed)
    outputs = ops.transpose(outputs, (0, 2, 1, 3))
    return _project(layer.output_dense, ops.reshape(outputs, (-1, layer.num_heads * layer.key_dim)))


def _feed_forward(layer: Any, x: Any) -> Any:
    inner = layer._feedforward_intermediate_dense
    return _project(layer._feedforward_output_dense, inner.activation(_project(inner, x)))


def _drop(layer: keras.layers.Dropout, x: Any, training: bool) -> Any:
    return drop(x, layer.rate, layer.seed_generator) if training and layer.rate > 0 else x


def _project(dense: Any, x: Any) -> Any:
    """Computes a `Dense` or `EinsumDense` as one product of matrices, `[N, i]` to `[N, o]`.

    The axis of heads and the one within a head are next to each other in kernel and bias.
    """
    kernel = ops.cast(ops.reshape(dense.kernel, (x.shape[-1], -1)), x.dtype)
    return ops.add(ops.matmul(x, kernel), ops.cast(ops.reshape(dense.bias, (-1,)), x.dtype))


def layer_norm(layer: Any, x: Any, training: bool = False) -> Any:
    """Computes `keras.layers.LayerNormalization` over the last axis, in float32."""
    return normalization.layer_norm(x, layer.gamma, layer.beta, layer.epsilon, training)
