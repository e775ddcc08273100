import keras

from tfmrc.ops.shapes import flatten_leading, restore_leading


@keras.saving.register_keras_serializable(package="tfmrc")
class Dense(keras.layers.Dense):
    """Keras' `Dense`, computed as one product of matrices for any number of leading axes.

    Keras' own multiplies more than two axes by `tensordot`, whose graph is three times as large
    where sizes are unknown, in decoding for instance. The outputs are the same.

    Args:
        units: int. Width of the output.
        **arguments: Further arguments of `keras.layers.Dense`.

    Call arguments:
        inputs: `[..., d]`.

    Returns:
        `[..., units]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import Dense
        >>> tuple(Dense(2)(np.ones((3, 4, 5))).shape)
        (3, 4, 2)
    """

    def call(self, inputs, training=None):
        if len(inputs.shape) <= 2:
            return super().call(inputs, training=training)
        rows = flatten_leading(inputs, keep=1)
        return restore_leading(super().call(rows, training=training), like=inputs)
