import keras
from keras import ops


@keras.saving.register_keras_serializable(package="tfmrc")
class SpanPositionNLL(keras.losses.Loss):
    """Computes the negative log-likelihood `-log P(y)` of one position in a passage.

    A position below 0 is unknown and gives zero.

    Args:
        name: str. Default: "position_log_likelihood".
        dtype: str. "float32" or "float64", whatever `keras.config.floatx()` is. Default: "float32".

    Call arguments:
        y_true: int `[B]`, positions from 0.
        y_pred: `[B, n]`, log-probabilities of the positions.

    Returns:
        `[B]`, before the reduction.

    Example:
        >>> import numpy as np
        >>> from tfmrc.losses import SpanPositionNLL
        >>> loss = SpanPositionNLL(reduction=None)
        >>> print(np.array(loss(np.array([1, -1]), np.array([[-3.0, -0.5], [-1.0, -1.0]]))))
        [ 0.5 -0. ]

    Reference: Liu et al. 2018 (SAN), section 2 (the loss of begin and of end).
    """

    def __init__(self, name="position_log_likelihood", dtype="float32", **kwargs):
        super().__init__(name=name, dtype=dtype, **kwargs)
        if self.dtype not in ("float32", "float64"):  # Keras casts positions to it, too
            raise ValueError(
                f"Positions need a loss of at least 32 bits. Received: dtype={self.dtype!r}"
            )

    def call(self, y_true, y_pred):
        position = ops.cast(ops.reshape(y_true, (-1,)), "int32")
        selected = ops.take_along_axis(y_pred, ops.maximum(position, 0)[:, None], axis=1)[:, 0]
        return -ops.where(position >= 0, ops.cast(selected, "float32"), 0.0)
