"""ModernBERT: rotary positions, local and global attention, gated feed-forward layers."""

from functools import partial

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.layer_normalization import LayerNormalization
from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops.gelu import exact_gelu
from tfmrc.ops.long_attention import attend_by_parts, attend_near
from tfmrc.ops.rotary import rotate


@keras.saving.register_keras_serializable(package="tfmrc")
class ModernBertLayer(Layer):
    """A transformer layer of ModernBERT, computed on a matrix of subwords.

    `x = x + W_o attention(norm(x))`, `x = x + W_o (gelu(a) * b)` with `[a, b] = W_i norm(x)`. There
    are no biases.

    Padding: keys at padding are not attended to.

    Args:
        num_heads: int. Number H of heads.
        intermediate_dim: int. Width of `a` and `b`.
        base: float. Base of the rotary positions.
        reach: int or None. Greatest distance between subwords that attend to each other; None for
            any. Default: None.
        normalize_first: bool. Whether the input of the attention is normalized, which the first
            layer does not do. Default: True.
        dropout: float. Dropout rate of the attention's output and within the feed-forward layer.
            Default: 0.0.
        norm_bias: bool. Whether layer normalizations have a bias. Default: False.

    Call arguments:
        x: `[N, d]`, rows of subwords.
        bias: `[R, 1, 1, P]`, the result of `tfmrc.ops.masking.mask_bias`.
        subwords: `tfmrc.encoders.subword_rows.Subwords`. The places of the rows in R windows of P
            positions.
        training: bool. Whether to apply dropout.

    Returns:
        `[N, d]`.

    Reference: Warner et al. 2024; Shazeer 2020 (the gate); Su et al. 2021 (rotary positions).
    """

    def __init__(
        self,
        num_heads,
        intermediate_dim,
        base,
        reach=None,
        normalize_first=True,
        dropout=0.0,
        norm_bias=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.intermediate_dim = intermediate_dim
        self.base = base
        self.reach = reach
        options = {"center": norm_bias, "dtype": self.dtype_policy}
        self.attention_norm = (
            LayerNormalization(name="attention_norm", **options) if normalize_first else None
        )
        self.feedforward_norm = LayerNormalization(name="feedforward_norm", **options)
        self.dropout = Dropout(dropout, dtype=self.dtype_policy, name="dropout")
        self.activation = exact_gelu

    @property
    def kind(self):
        """What distinguishes layers: their reach, and whether their input is normalized."""
        return self.reach, self.attention_norm is not None

    def build(self, x_shape):
        width = x_shape[-1]
        for norm in filter(None, (self.attention_norm, self.feedforward_norm)):
            norm.build((None, width))
        sizes = {
            "query_key_value": (3 * width, width),
            "attention_output": (width, width),
            "feedforward_inner": (2 * self.intermediate_dim, width),
            "feedforward_output": (width, self.intermediate_dim),
        }
        for name, (units, inputs) in sizes.items():
            dense = self.add_dense(name, units, inputs, initializer=0.02, use_bias=False)
            setattr(self, name, dense)

    def call(self, x, bias, subwords, training=False):
        normal = self.attention_norm(x, training=training) if self.attention_norm else x
        x = x + self.dropout(self._attention(normal, bias, subwords, training), training=training)
        # Its inner values are three times as long as `x`: the gradient computes them again.
        forward = partial(self._feed_forward, training=training)
        forward = keras.remat(forward) if training else forward
        return x + forward(self.feedforward_norm(x, training=training))

    def _attention(self, x, bias, subwords, training):
        heads = (subwords.to_heads(part) for part in ops.split(self.query_key_value(x), 3, axis=-1))
        query, key, value = heads  # [R, H, P, d / H] each
        query, key = rotate(query, self.base), rotate(key, self.base)
        scale = query.shape[-1] ** -0.5
        if self.reach is None:
            result = attend_by_parts(query, key, value, bias, scale, training)
        else:
            result = attend_near(query, key, value, bias, self.reach, scale, training)
        return self.attention_output(subwords.from_heads(result))  # [N, d]

    def _feed_forward(self, x, training):
        inner, gate = ops.split(self.feedforward_inner(x), 2, axis=-1)  # [N, intermediate_dim] each
        return self.feedforward_output(
            self.dropout(self.activation(inner) * gate, training=training)
        )


@keras.saving.register_keras_serializable(package="tfmrc")
class ModernBertBackbone(Layer):
    """The layers of ModernBERT, which `tfmrc.encoders.BackboneEncoder` calls one by one.

    Args:
        vocabulary_size: int. Number of subwords.
        num_layers, num_heads, hidden_dim, intermediate_dim: int. Sizes of the transformer layers.
        dropout: float. Dropout rate of the embeddings and the layers. Default: 0.0.
        max_sequence_length: int. Number of positions. Default: 8192.
        global_every: int. Every such layer, from the first on, attends to all subwords; the others
            to near ones. Default: 3.
        local_attention: int. Number of subwords that a local layer sees, half of them on each side.
            Default: 128.
        global_base, local_base: float. Bases of the rotary positions in global and local layers.
            Default: 160,000 and 10,000.
        norm_bias: bool. Whether layer normalizations have a bias. Default: False.

    Reference: Warner et al. 2024, "Smarter, Better, Faster, Longer".
    """

    def __init__(
        self,
        vocabulary_size,
        num_layers,
        num_heads,
        hidden_dim,
        intermediate_dim,
        dropout=0.0,
        max_sequence_length=8192,
        global_every=3,
        local_attention=128,
        global_base=160_000.0,
        local_base=10_000.0,
        norm_bias=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        options = {"dtype": self.dtype_policy}
        self.num_heads = num_heads
        self.hidden_dim = hidden_dim
        self.max_sequence_length = max_sequence_length
        self.token_embedding = keras.layers.Embedding(
            vocabulary_size,
            hidden_dim,
            embeddings_initializer=keras.initializers.RandomNormal(stddev=0.02),
            name="token_embedding",
            **options,
        )
        self.embeddings_layer_norm, self.final_norm = (
            LayerNormalization(center=norm_bias, name=name, **options)
            for name in ("embeddings_layer_norm", "final_norm")
        )
        self.embeddings_dropout = Dropout(dropout, name="embeddings_dropout", **options)
        kinds = (global_base, None), (local_base, local_attention // 2)
        kind_of = [kinds[number % global_every > 0] for number in range(num_layers)]
        self.transformer_layers = [
            ModernBertLayer(
                num_heads,
                intermediate_dim,
                base,
                reach,
                normalize_first=number > 0,
                dropout=dropout,
                norm_bias=norm_bias,
                name=f"transformer_layer_{number}",
                **options,
            )
            for number, (base, reach) in enumerate(kind_of)
        ]
        # The names of variables do not begin with the name of this layer, as KerasHub's.
        self.token_embedding.build((None, None))
        for norm in (self.embeddings_layer_norm, self.final_norm):
            norm.build((None, hidden_dim))
        for layer in self.transformer_layers:
            layer.build((None, hidden_dim))
        self.built = True

    def embed(self, ids, training=False):
        """Computes the input of the first layer, `[R, P, hidden_dim]`, from ids `[R, P]`."""
        x = self.embeddings_layer_norm(self.token_embedding(ids))
        return self.embeddings_dropout(x, training=training)
