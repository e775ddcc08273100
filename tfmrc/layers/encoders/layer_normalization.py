import keras
from keras import ops

from tfmrc.ops.normalization import layer_norm


@keras.saving.register_keras_serializable(package="tfmrc")
class LayerNormalization(keras.layers.LayerNormalization):
    """Keras' `LayerNormalization` of the last axis, with fewer operations.

    The outputs are the same within rounding (`tfmrc.ops.normalization.layer_norm`). Positions are
    independent, so padding has no effect.

    Args:
        epsilon: float. Added to the variance. Default: 1e-5.
        **arguments: `name` and `dtype`, as for any layer.

    Call arguments:
        inputs: `[..., d]`.
        training: bool. Whether to compute the gradient by its formula. Default: False.

    Returns:
        `[..., d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import LayerNormalization
        >>> print(np.round(LayerNormalization()(np.array([[1.0, 3.0]])), 3))
        [[-1.  1.]]

    Reference: Ba et al. 2016.
    """

    def __init__(self, epsilon=1e-5, **arguments):
        super().__init__(epsilon=epsilon, **arguments)

    def call(self, inputs, training=False):
        outputs = layer_norm(inputs, self.gamma, self.beta, self.epsilon, bool(training))
        return ops.cast(outputs, self.compute_dtype)
