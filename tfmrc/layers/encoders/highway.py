import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.regularization.dropout import Dropout


@keras.saving.register_keras_serializable(package="tfmrc")
class Highway(Layer):
    """Applies a highway network.

    `x <- g * f(W x + b) + (1 - g) * x`, `g = sigmoid(W_g x + b_g)`; dropout on the input of each
    layer. Positions are independent, so padding has no effect.

    Args:
        num_layers: int. Number of layers. Default: 2.
        dropout: float. Dropout rate on each layer's input. Default: 0.0.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one, None Glorot uniform. Default: 0.02.
        activation: str or function. `f`, the name of a Keras activation or a function, which is
            saved if it is registered with Keras. Default: "relu".

    Call arguments:
        x: `[..., d]`.

    Returns:
        `[..., d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import Highway
        >>> tuple(Highway(num_layers=2)(np.ones((1, 4, 6), "float32")).shape)
        (1, 4, 6)

    Reference: Srivastava et al. 2015; Nishida et al. 2019 (Masque), section 3.1.1; Xiao et al. 2018
    (DAANET), daanet-02 and daanet-03: one layer with `activation="linear"`. The gate of that paper
    is the share of the input, `1 - g` here (equivalent with negated `W_g` and `b_g`).
    """

    def __init__(self, num_layers=2, dropout=0.0, initializer=0.02, activation="relu", **kwargs):
        super().__init__(**kwargs)
        self.num_layers = num_layers
        self.dropout = dropout
        self.initializer = initializer
        self.activation = keras.activations.get(activation)
        self.dropouts = [
            Dropout(dropout, dtype=self.dtype_policy, name=f"dropout_{i}")
            for i in range(num_layers)
        ]

    def build(self, input_shape):
        dim = input_shape[-1]
        self.transforms, self.gates = (
            [
                self.add_dense(f"{name}_{i}", dim, dim, initializer=self.initializer)
                for i in range(self.num_layers)
            ]
            for name in ("transform", "gate")
        )

    def call(self, x, training=None):
        for dropout, transform, gate in zip(
            self.dropouts, self.transforms, self.gates, strict=True
        ):
            x = dropout(x, training=training)
            # Cast, since a `DTypePolicyMap` may give the layers within policies of their own.
            h, g = (ops.cast(layer(x), x.dtype) for layer in (transform, gate))
            g = ops.sigmoid(g)  # daanet-02
            x = g * self.activation(h) + (1.0 - g) * x  # daanet-03
        return x

    def compute_output_shape(self, input_shape):
        return input_shape
