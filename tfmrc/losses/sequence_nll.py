import keras
from keras import ops

from tfmrc.ops.ids import PAD


@keras.saving.register_keras_serializable(package="tfmrc")
class SequenceNLL(keras.losses.Loss):
    """Computes the negative log-likelihood of each sequence, averaged over its words.

    `-1/T sum_t log P(y_t)` per example, ignoring PAD; an example without a word gives zero. The
    preprocessor's sample weights `a_i B / N_answerable` turn the mean over the batch into the mean
    over the *answerable* examples.

    Call arguments:
        y_true: `[B, T]` target ids, PAD after the end.
        y_pred: `[B, T]` log-probabilities of the targets.

    Returns:
        `[B]`, before the reduction.

    Example:
        >>> import numpy as np
        >>> from tfmrc.losses import SequenceNLL
        >>> loss = SequenceNLL()
        >>> float(loss(np.array([[5, 3, 0]]), np.array([[-1.0, -2.0, -9.0]])))
        1.5

    Reference: Nishida et al. 2019 (Masque), section 3.5, masque-23.
    """

    def __init__(self, name="sequence_log_likelihood", **kwargs):
        super().__init__(name=name, **kwargs)

    def call(self, y_true, y_pred):
        real = ops.not_equal(y_true, ops.cast(PAD, y_true.dtype))
        y_pred = ops.cast(y_pred, "float32")
        total = ops.sum(ops.where(real, y_pred, 0.0), axis=-1)
        count = ops.sum(ops.cast(real, "float32"), axis=-1)
        return -total / ops.maximum(count, 1.0)  # masque-23, daanet-15
