"""MobileBERT: narrow transformer layers between wide states, without layer normalization."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops.attention import attend


@keras.saving.register_keras_serializable(package="tfmrc")
class ScaleAndShift(Layer):
    """MobileBERT's normalization that does not normalize, `gamma * x + beta`.

    Call arguments:
        x: `[..., d]`.

    Returns:
        `[..., d]`.

    Reference: Sun et al. 2020, "MobileBERT", section 3.3 (NoNorm).
    """

    def build(self, x_shape):
        self.gamma = self.add_weight((x_shape[-1],), initializer="ones", name="gamma")
        self.beta = self.add_weight((x_shape[-1],), initializer="zeros", name="beta")

    def call(self, x):
        return self.gamma * x + self.beta


@keras.saving.register_keras_serializable(package="tfmrc")
class MobileBertLayer(Layer):
    """A transformer layer of MobileBERT, computed on a matrix of subwords.

    The states are `hidden_dim` wide and the layer's inside is `bottleneck_dim` wide: queries and
    keys share one projection of the states, the residual has another, and values are made from the
    states themselves. Several feed-forward networks follow the attention, and a last projection
    leads back to the states.

    Padding: keys at padding are not attended to.

    Args:
        num_heads: int. Number H of heads.
        intermediate_dim: int. Width of the feed-forward networks.
        bottleneck_dim: int. Width e of the layer's inside.
        num_feedforward: int. Number of feed-forward networks. Default: 4.
        dropout: float. Dropout rate of the layer's output. Default: 0.0.

    Call arguments:
        x: `[N, d]`, rows of subwords.
        bias: `[R, 1, 1, P]`, the result of `tfmrc.ops.masking.mask_bias`.
        subwords: `tfmrc.encoders.subword_rows.Subwords`. The places of the rows in R windows of P
            positions.
        training: bool. Whether to apply dropout.

    Returns:
        `[N, d]`.

    Reference: Sun et al. 2020, section 3.
    """

    def __init__(
        self, num_heads, intermediate_dim, bottleneck_dim, num_feedforward=4, dropout=0.0, **kwargs
    ):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.intermediate_dim = intermediate_dim
        self.bottleneck_dim = bottleneck_dim
        self.num_feedforward = num_feedforward
        self.dropout = Dropout(dropout, dtype=self.dtype_policy, name="dropout")
        self.activation = ops.relu

    def build(self, x_shape):
        wide, narrow = x_shape[-1], self.bottleneck_dim
        sizes = {
            "input": (narrow, wide, True),
            "shared": (narrow, wide, True),
            "query": (narrow, narrow, False),
            "key": (narrow, narrow, False),
            "value": (narrow, wide, False),
            "attention_output": (narrow, narrow, True),
            "output": (wide, narrow, True),
        }
        for number in range(self.num_feedforward):
            sizes[f"inner_{number}"] = (self.intermediate_dim, narrow, False)
            sizes[f"outer_{number}"] = (narrow, self.intermediate_dim, True)
        self.dense, self.norms = {}, {}
        for name, (units, inputs, has_norm) in sizes.items():
            self.dense[name] = self.add_dense(name, units, inputs, initializer=0.02)
            if has_norm:
                norm = ScaleAndShift(dtype=self.dtype_policy, name=f"{name}_norm")
                norm.build((None, units))
                self.norms[name] = norm

    def call(self, x, bias, subwords, training=False):
        shared = self._project("shared", x)  # [N, e], for queries and keys
        y = self._attention(x, shared, bias, subwords, training)  # [N, e]
        y = self.norms["attention_output"](
            self.dense["attention_output"](y) + self._project("input", x)
        )
        for number in range(self.num_feedforward):
            inner = self.activation(self.dense[f"inner_{number}"](y))  # [N, intermediate_dim]
            y = self.norms[f"outer_{number}"](self.dense[f"outer_{number}"](inner) + y)
        return self.norms["output"](self.dropout(self.dense["output"](y), training=training) + x)

    def _project(self, name, x):
        return self.norms[name](self.dense[name](x))

    def _attention(self, x, shared, bias, subwords, training):
        inputs = {"query": shared, "key": shared, "value": x}
        query, key, value = (
            subwords.to_heads(self.dense[name](part)) for name, part in inputs.items()
        )  # [R, H, P, e / H] each
        scale = query.shape[-1] ** -0.5
        outputs = attend(query, ops.swapaxes(key, -1, -2), value, bias, scale, training, 0.0, None)
        return subwords.from_heads(outputs)


@keras.saving.register_keras_serializable(package="tfmrc")
class MobileBertBackbone(Layer):
    """The layers of MobileBERT, which `tfmrc.encoders.BackboneEncoder` calls one by one.

    Args:
        vocabulary_size: int. Number of subwords.
        num_layers, num_heads, hidden_dim, intermediate_dim: int. Sizes of the transformer layers.
        bottleneck_dim: int. Width of the inside of the layers. Default: 128.
        embedding_dim: int. Width of the subwords' vectors. Default: 128.
        num_feedforward: int. Number of feed-forward networks of a layer. Default: 4.
        dropout: float. Dropout rate of the embeddings and the layers. Default: 0.0.
        max_sequence_length: int. Number of positions. Default: 512.
        num_segments: int. Number of segments. Default: 2.

    Reference: Sun et al. 2020, "MobileBERT: a Compact Task-Agnostic BERT for Resource-Limited
    Devices".
    """

    def __init__(
        self,
        vocabulary_size,
        num_layers,
        num_heads,
        hidden_dim,
        intermediate_dim,
        bottleneck_dim=128,
        embedding_dim=128,
        num_feedforward=4,
        dropout=0.0,
        max_sequence_length=512,
        num_segments=2,
        **kwargs,
    ):
        super().__init__(**kwargs)
        options = {"dtype": self.dtype_policy}
        self.num_heads = num_heads
        self.hidden_dim = hidden_dim
        self.max_sequence_length = max_sequence_length
        rows = {
            "token_embedding": (vocabulary_size, embedding_dim),
            "position_embedding": (max_sequence_length, hidden_dim),
            "segment_embedding": (num_segments, hidden_dim),
        }
        for name, (count, width) in rows.items():
            normal = keras.initializers.RandomNormal(stddev=0.02)
            layer = keras.layers.Embedding(
                count, width, embeddings_initializer=normal, name=name, **options
            )
            layer.build((None, None))
            setattr(self, name, layer)
        self.embeddings_projection = self.add_dense(
            "embeddings_projection", hidden_dim, 3 * embedding_dim, initializer=0.02
        )
        self.embeddings_layer_norm = ScaleAndShift(name="embeddings_layer_norm", **options)
        self.embeddings_layer_norm.build((None, hidden_dim))
        self.embeddings_dropout = Dropout(dropout, name="embeddings_dropout", **options)
        self.transformer_layers = [
            MobileBertLayer(
                num_heads,
                intermediate_dim,
                bottleneck_dim,
                num_feedforward,
                dropout,
                name=f"transformer_layer_{number}",
                **options,
            )
            for number in range(num_layers)
        ]
        for layer in self.transformer_layers:
            layer.build((None, hidden_dim))
        self.built = True

    def embed(self, ids, segment_ids, mask, training=False):
        """Computes the input of the first layer from the vectors of three neighbors each.

        Neighbors at padding are zeros, so that a padded sequence equals the same one alone;
        transformers has the vector of its padding there.

        Args:
            ids, segment_ids: int `[R, P]`.
            mask: boolean `[R, P]`, False at padding.
            training: bool. Whether to apply dropout. Default: False.

        Returns:
            `[R, P, hidden_dim]`.
        """
        tokens = self.token_embedding(ids)  # [R, P, embedding_dim]
        tokens = tokens * ops.cast(mask, tokens.dtype)[..., None]
        around = ops.pad(tokens, [[0, 0], [1, 1], [0, 0]])  # [R, P + 2, embedding_dim]
        x = self.embeddings_projection(
            ops.concatenate([around[:, 2:], tokens, around[:, :-2]], axis=-1)
        )
        positions = ops.arange(ops.shape(ids)[1])
        x = x + self.position_embedding(positions) + self.segment_embedding(segment_ids)
        return self.embeddings_dropout(self.embeddings_layer_norm(x), training=training)
