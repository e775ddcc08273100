"""Character CNN of ELMo."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.ops.own_policy import own_policy
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class CharacterCNN(Layer):
    """Embeds words by character convolutions, max pooling, highway layers and a projection.

    For each filter width w: `y_w = f(max_t(conv_w(E[c])_t + b_w))`. The `y_w` are concatenated to
    x; each highway layer computes `x <- g relu(x W_t + b_t) + (1 - g) x`,
    `g = sigmoid(x W_g + b_g)`; the output is `x W_p + b_p`. Row 0 of the character table is always
    zero.

    Words are independent, so padding has no effect.

    Args:
        filters: list of pairs of int. Width and number of filters.
        projection_dim: int. Width of the word vectors; None for no projection. Default: None.
        num_characters: int. Number of character ids, including 0. Default: 262.
        character_dim: int. Width of the character vectors. Default: 16.
        num_highways: int. Number of highway layers. Default: 2.
        activation: str. `f`, "relu" or "tanh". Default: "relu".
        weights_trainable: bool. Whether to train the weights. Default: True.

    Call arguments:
        characters: int `[..., c]` character ids; c must be at least the largest filter width.

    Returns:
        `[..., projection_dim]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.encoders.elmo.character_cnn import CharacterCNN
        >>> layer = CharacterCNN([[1, 4], [2, 8]], projection_dim=6)
        >>> tuple(layer(np.ones((2, 3, 50), "int32")).shape)
        (2, 3, 6)

    Reference: Kim et al. 2015; Jozefowicz et al. 2016; Peters et al. 2018 (ELMo), section 3.4.
    """

    def __init__(
        self,
        filters,
        projection_dim=None,
        num_characters=262,
        character_dim=16,
        num_highways=2,
        activation="relu",
        weights_trainable=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.dtype_policy = own_policy(self)
        self.activation = activation
        num_filters = sum(number for _, number in filters)
        self.output_dim = projection_dim or num_filters

        def add(name, shape, initializer="glorot_uniform"):
            return self.add_weight(
                shape, initializer=initializer, trainable=weights_trainable, name=name
            )

        self.characters = add("characters", (num_characters - 1, character_dim))
        self.kernels = [
            add(f"kernel_{i}", (width, character_dim, number))
            for i, (width, number) in enumerate(filters)
        ]
        self.biases = [
            add(f"bias_{i}", (number,), "zeros") for i, (_, number) in enumerate(filters)
        ]
        square, vector = (num_filters, num_filters), (num_filters,)
        self.highways = [
            {
                "transform_kernel": add(f"transform_kernel_{i}", square),
                "transform_bias": add(f"transform_bias_{i}", vector, "zeros"),
                "gate_kernel": add(f"gate_kernel_{i}", square),
                "gate_bias": add(f"gate_bias_{i}", vector, "zeros"),
            }
            for i in range(num_highways)
        ]
        self.projection = self.projection_bias = None
        if projection_dim is not None:
            self.projection = add("projection", (num_filters, projection_dim))
            self.projection_bias = add("projection_bias", (projection_dim,), "zeros")
        self.built = True

    def call(self, characters):
        def cast(weight):
            return ops.cast(weight, self.compute_dtype)

        shape = sizes(characters)
        ids = ops.reshape(characters, (-1, shape[-1]))  # [N, c]
        rows = ops.take(cast(self.characters), ops.maximum(ids - 1, 0), axis=0)
        x = ops.where((ids > 0)[..., None], rows, 0.0)  # [N, c, d]
        activation = keras.activations.get(self.activation)
        pooled = [
            activation(ops.max(ops.conv(x, cast(kernel)), axis=1) + cast(bias))  # [N, filters]
            for kernel, bias in zip(self.kernels, self.biases, strict=True)
        ]
        x = ops.concatenate(pooled, axis=-1)  # [N, all filters]
        for weights in self.highways:
            w = {name: cast(value) for name, value in weights.items()}
            g = ops.sigmoid(ops.matmul(x, w["gate_kernel"]) + w["gate_bias"])
            new = ops.relu(ops.matmul(x, w["transform_kernel"]) + w["transform_bias"])
            x = g * new + (1.0 - g) * x
        if self.projection is not None:
            x = ops.matmul(x, cast(self.projection)) + cast(self.projection_bias)
        return ops.reshape(x, (*shape[:-1], self.output_dim))

    def compute_output_spec(self, characters):
        return keras.KerasTensor((*characters.shape[:-1], self.output_dim), self.compute_dtype)
