"""Pretrained transformer encoder as a Keras layer."""

import keras
from keras import ops

from tfmrc.encoders import flat_transformer as flat, keras_hub_backbone as hub
from tfmrc.encoders.subword_rows import AllSubwords, RealSubwords
from tfmrc.encoders.word_pooling import WordPooling
from tfmrc.layers.base import Layer
from tfmrc.ops.masking import mask_bias
from tfmrc.ops.own_policy import own_policy
from tfmrc.ops.relative_positions import distance_scores
from tfmrc.ops.sizes import sizes
from tfmrc.utils import keras_private


@keras.saving.register_keras_serializable(package="tfmrc")
class BackboneEncoder(Layer):
    """Encodes windows of subwords with a backbone of KerasHub, or of tfmrc.

    `states = mix of (e, h_1, ..., h_L)`, where `e` are the embeddings, `h_j` is the output of
    transformer layer j, and the mix is `h_L` or `gamma * sum_j softmax(w)_j h_j` with learned `w`
    and `gamma` (in float32). `words` then pools the vectors of a word's subwords.

    The backbone's configuration and weights are part of this layer and are saved with the model.

    Fine-tuning: the top `trainable_layers` transformer layers are trained ("all": these and the
    embeddings; "none": nothing). Frozen layers run without dropout and without gradients. ALBERT
    shares its layers and is trained as a whole or not at all.

    MPNet's scores of distances are constant in training.

    Padding: padded subwords are not attended to and get zeros; a padded window has no effect.

    Args:
        family: str. A key of `tfmrc.encoders.hugging_face.families.FAMILIES`.
        backbone: dict. Sizes of the backbone, as in the constructor of KerasHub's class or
            one of `tfmrc.encoders.keras_hub_backbone.OWN`.
        pad_id: int. Id of padding. Default: 0.
        pooling: str. Vector of a word: that of its "first" subword, or the "mean" of all. Default:
            "first".
        layers: str. "last", or "mix" for a learned mix of all layers. Default: "last".
        trainable_layers: str or int. "all", "none", or the number of top layers to train. Default:
            "all".
        remat: bool. Whether to recompute the layers for the gradient instead of storing their inner
            values. Default: False.
        activation: str. "gelu", "gelu_new" (the approximation) or "relu"; None for KerasHub's.
            Default: None.
        epsilon: float. Epsilon of the layer normalizations; None for KerasHub's. Default: None.
        skip_padding: bool. Whether to skip padded subwords and windows of padding, so that the cost
            of a batch depends on its total length and not on its longest text. Attention alone
            computes all positions of a window, and DeBERTa's layers do. Only on TensorFlow, where
            shapes may depend on values; set to False for XLA. Default: True.
        preset: dict of str. Origin of the weights, for the model card. Default: None.

    Call arguments:
        encoder_ids: int `[B, W, P]`, W windows of P subwords, including special ones.
        segment_ids: int `[B, W, P]`; None for zeros. Ignored by families without segments.
        training: bool. Whether to apply dropout.

    Returns:
        `[B, W * P, dim]`.

    Raises:
        ValueError: If an argument has an invalid value.
        ImportError: If keras-hub is not installed.

    Example:
        >>> import numpy as np
        >>> from tfmrc.encoders import BackboneEncoder
        >>> sizes = {"vocabulary_size": 20, "num_layers": 1, "num_heads": 2, "hidden_dim": 4,
        ...     "intermediate_dim": 8}
        >>> encoder = BackboneEncoder("bert", sizes)
        >>> states = encoder(np.array([[[2, 7, 8, 3, 0]]]))
        >>> words = encoder.words(states, np.array([[[1, 2], [0, 0]]]))
        >>> tuple(states.shape), np.array(words)[0, 1].tolist()
        ((1, 5, 4), [0.0, 0.0, 0.0, 0.0])

    Reference: Devlin et al. 2019; Peters et al. 2018 (the mix); Chen et al. 2016 (remat).
    """

    def __init__(
        self,
        family,
        backbone,
        pad_id=0,
        pooling="first",
        layers="last",
        trainable_layers="all",
        remat=False,
        activation=None,
        epsilon=None,
        skip_padding=True,
        preset=None,
        **kwargs,
    ):
        kwargs.setdefault("name", "encoder")
        super().__init__(**kwargs)
        self.dtype_policy = own_policy(self, has_parts=True)  # such as those of `encoder/.*`
        self.family = family
        self.pad_id = pad_id
        self.output_layers = layers  # `layers` is Keras' name for sublayers
        self._trainable_layers = trainable_layers
        self.remat = remat
        self.activation = activation
        self.epsilon = epsilon
        self.skip_padding = skip_padding
        self._skips = skip_padding and keras.backend.backend() == "tensorflow"
        self.supports_jit = not self._skips
        self.preset = dict(preset or {})
        # Variable names begin with the name of this layer, which selects their learning rates.
        with keras.name_scope(self.name):
            self.backbone = hub.build_backbone(family, backbone, self.dtype_policy)
            self.distance_weights = None
            if family == "mpnet":  # not trained: `attend` has no gradient of its bias
                self.distance_weights = self.add_weight(
                    (32, self.backbone.num_heads), initializer="zeros", trainable=False,
                    name="distance_weights", dtype="float32", autocast=False,
                )  # fmt: skip
            if layers == "mix":
                options = {"dtype": "float32", "autocast": False}
                self.mix_weights = self.add_weight(
                    (self.num_layers + 1,), initializer="zeros", name="mix_weights", **options
                )
                self.mix_gamma = self.add_weight(
                    (), initializer="ones", name="mix_gamma", **options
                )
        self.built = True
        if activation is not None:
            hub.set_activation(self.backbone, activation)
        if epsilon is not None:
            hub.set_epsilon(self.backbone, epsilon)
        self.words = WordPooling(pooling, dtype=self.dtype_policy, name="words")
        # Frozen layers set `training=False` in the call context; this last layer restores the
        # value for the following layers of the model.
        self.restore_context = keras.layers.Identity(dtype=self.dtype_policy)
        self.dim = self.backbone.hidden_dim
        self._freeze()

    @property
    def prediction_head(self):
        """Arguments of the `tfmrc.layers.PredictionHead` of the family's models, None for none."""
        if self.family != "modern_bert":
            return None
        norm = self.backbone.final_norm
        return {"epsilon": norm.epsilon, "norm_bias": norm.center}

    @property
    def num_layers(self):
        """Number of transformer layers."""
        return len(hub.transformer_layers(self.backbone))

    @property
    def trainable_layers(self):
        """Which layers are trained; set it before you compile the model."""
        return self._trainable_layers

    @trainable_layers.setter
    def trainable_layers(self, value):
        self._trainable_layers = value
        self._freeze()

    @property
    def trainable(self):
        """Whether the layers that `trainable_layers` names are trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        keras.layers.Layer.trainable.fset(self, value)
        if value:  # which Keras has just set for all layers
            self._freeze()

    @property
    def num_trainable_layers(self):
        """Number of trained top layers."""
        if self.trainable_layers in ("all", "none"):
            return self.num_layers if self.trainable_layers == "all" else 0
        return self.trainable_layers

    def _freeze(self):
        count = self.num_trainable_layers
        valid = isinstance(count, int) and 0 <= count <= self.num_layers
        layers = hub.transformer_layers(self.backbone)
        shared = len({id(layer) for layer in layers}) < len(layers)
        if not valid or (shared and 0 < count < len(layers)):
            raise ValueError(
                f"`trainable_layers` must be 'all', 'none', or a number up to {self.num_layers}; "
                "shared layers (ALBERT) are trained as a whole. "
                f"Received: trainable_layers={self.trainable_layers!r}"
            )
        for layer in hub.embedding_layers(self.backbone):
            layer.trainable = self.trainable_layers == "all"
        for number, layer in enumerate(layers):
            layer.trainable = number >= len(layers) - count
        for layer in hub.final_layers(self.backbone):
            layer.trainable = count > 0
        if hasattr(self.backbone, "pooled_dense"):
            # The pooled output is not used.
            self.backbone.pooled_dense.trainable = False

    def call(self, encoder_ids, segment_ids=None, training=False):
        rows, windows, length = sizes(encoder_ids)
        ids = ops.reshape(encoder_ids, (-1, length))  # [B W, P]
        segments = None if segment_ids is None else ops.reshape(segment_ids, (-1, length))
        mask = ops.not_equal(ids, self.pad_id)
        if self._skips:  # windows of padding; R of the B W are left
            (present,) = ops.nonzero(ops.any(mask, axis=1))
            ids, mask = ops.take(ids, present, axis=0), ops.take(mask, present, axis=0)
            segments = None if segments is None else ops.take(segments, present, axis=0)
        outputs = self.compute(ids, segments, mask, bool(training))  # of [R, P, dim]
        states = outputs[-1] if self.output_layers == "last" else self._mix(outputs)
        states = ops.where(ops.expand_dims(mask, -1), states, ops.zeros_like(states))
        if self._skips:
            shape = (rows * windows, length, self.dim)
            states = ops.scatter(ops.expand_dims(present, -1), states, shape)  # [B W, P, dim]
        states = ops.reshape(states, (rows, windows * length, self.dim))
        return self.restore_context(states, training=training)

    def compute(self, ids, segments, mask, training):
        """Returns the embeddings and all layer outputs; without a mix, only the last output.

        Args:
            ids: int `[R, P]`. Windows of subwords.
            segments: int `[R, P]`, or None for zeros.
            mask: boolean `[R, P]`, False at padding.
            training: bool. Whether to apply dropout to the layers that are trained.

        Returns:
            A list of `[R, P, dim]`.
        """
        layers = hub.transformer_layers(self.backbone)
        tuned = self.num_trainable_layers if self.trainable else 0
        embeddings_tuned = self.trainable and self.trainable_layers == "all"
        dropout = self.backbone.embeddings_dropout
        generators = keras_private.seed_generators(dropout) if training else []
        with hub.given_seeds(generators, hub.draw_seeds(generators)):
            x, extra = hub.embed(self.backbone, ids, segments, mask, training and embeddings_tuned)
        if not embeddings_tuned:
            x = ops.stop_gradient(x)
            extra = {name: ops.stop_gradient(value) for name, value in extra.items()}
        outputs = [x]
        subwords = None
        if all(map(flat.supports, layers)):
            rows = RealSubwords if self._skips else AllSubwords
            subwords = rows(mask, self.backbone.num_heads)
            x = subwords.to_rows(x)  # [N, dim], a row for each subword
        bias = mask_bias(mask)[:, None, None, :]  # [R, 1, 1, P]
        if self.distance_weights is not None:
            if subwords is None:
                raise ValueError(
                    "MPNet cannot be quantized: quantized layers have no relative positions."
                )
            most = self.backbone.max_sequence_length
            bias = bias + distance_scores(self.distance_weights, ids, most)  # [R, H, P, P]
        for number, layer in enumerate(layers):
            frozen = number < len(layers) - tuned
            x = self._layer(layer, x, mask, bias, extra, subwords, training and not frozen)
            if frozen:
                x = ops.stop_gradient(x)
            is_last = number == len(layers) - 1
            for final in hub.final_layers(self.backbone) if is_last else ():
                x = final(x, training=training)
            if self.output_layers == "mix" or is_last:
                outputs.append(x if subwords is None else subwords.to_windows(x))
        return outputs if self.output_layers == "mix" else outputs[-1:]

    def _layer(self, layer, x, mask, bias, extra, subwords, training):
        generators = keras_private.seed_generators(layer) if training else []
        seeds = hub.draw_seeds(generators)

        def run(x, *values):
            with hub.given_seeds(generators, seeds):
                if subwords is not None:
                    return flat.transformer_layer(layer, x, bias, subwords, training)
                arguments = dict(zip(extra, values, strict=True))
                return layer(x, padding_mask=mask, training=training, **arguments)

        run = keras.remat(run) if self.remat and training else run
        return run(x, *extra.values())

    def _mix(self, outputs):
        weights = ops.softmax(self.mix_weights)
        mixed = sum(
            weights[number] * ops.cast(output, "float32") for number, output in enumerate(outputs)
        )
        return ops.cast(self.mix_gamma * mixed, self.compute_dtype)

    def compute_output_shape(self, encoder_ids_shape, segment_ids_shape=None):
        rows, windows, length = encoder_ids_shape
        flat = None if windows is None or length is None else windows * length
        return (rows, flat, self.dim)

    def compute_output_spec(self, encoder_ids, segment_ids=None, training=False):
        shape = self.compute_output_shape(encoder_ids.shape)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "backbone": hub.sizes_of(self.backbone),
            "trainable_layers": self.trainable_layers,
        }
