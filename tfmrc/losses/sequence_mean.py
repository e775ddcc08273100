import keras
from keras import ops

from tfmrc.ops.ids import PAD


@keras.saving.register_keras_serializable(package="tfmrc")
class SequenceMean(keras.losses.Loss):
    """Computes the mean of a per-step output over the words of each sequence.

    `1/T sum_t y_t` per example, ignoring PAD; an example without a word gives zero. The coverage
    loss is this mean of `tfmrc.ops.coverage_overlap`.

    Call arguments:
        y_true: `[B, T]` target ids, PAD after the end.
        y_pred: `[B, T]`, one number per step.

    Returns:
        `[B]`, before the reduction.

    Example:
        >>> import numpy as np
        >>> from tfmrc.losses import SequenceMean
        >>> float(SequenceMean()(np.array([[5, 3, 0]]), np.array([[0.0, 0.5, 9.0]])))
        0.25

    Reference: See et al. 2017, section 2.3; Zhao et al. 2018, section 4.1; daanet-16.
    """

    def __init__(self, name="sequence_mean", **kwargs):
        super().__init__(name=name, **kwargs)

    def call(self, y_true, y_pred):
        real = ops.not_equal(y_true, ops.cast(PAD, y_true.dtype))
        total = ops.sum(ops.where(real, ops.cast(y_pred, "float32"), 0.0), axis=-1)
        return total / ops.maximum(ops.sum(ops.cast(real, "float32"), axis=-1), 1.0)
