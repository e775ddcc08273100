import keras
from keras import ops

from tfmrc.ops.checks import check_none
from tfmrc.ops.ids import PAD
from tfmrc.ops.masking import LOG_ZERO


@keras.saving.register_keras_serializable(package="tfmrc")
class SequenceNLL(keras.losses.Loss):
    """Computes the negative log-likelihood of each sequence, averaged over its words.

    `-1/T sum_t log P(y_t)` per example, ignoring PAD; an example without a word gives zero. The
    preprocessor's sample weights `a_i B / N_answerable` turn the mean over the batch into the mean
    over its answerable examples.

    An impossible target, of the log-probability `LOG_ZERO`, is an error outside a graph. In a graph
    it counts as padding, and `fit` of a `tfmrc.models` model warns with the number of such targets.

    Call arguments:
        y_true: `[B, T]` target ids, PAD after the end.
        y_pred: `[B, T]` log-probabilities of the targets.

    Returns:
        `[B]`, before the reduction.

    Raises:
        ValueError: If a target is impossible, outside a graph.

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
        impossible = self.impossible(y_true, y_pred)
        check_none("y_true", impossible, of="targets that the model can neither generate nor copy")
        real = ops.not_equal(y_true, ops.cast(PAD, y_true.dtype))
        real = ops.logical_and(real, ops.logical_not(impossible))
        y_pred = ops.cast(y_pred, "float32")
        total = ops.sum(ops.where(real, y_pred, 0.0), axis=-1)
        count = ops.sum(ops.cast(real, "float32"), axis=-1)
        return -total / ops.maximum(count, 1.0)  # masque-23, daanet-15

    def impossible(self, y_true, y_pred):
        """Returns which targets are impossible, boolean `[B, T]`, of the arguments of a call."""
        real = ops.not_equal(y_true, ops.cast(PAD, y_true.dtype))
        return ops.logical_and(real, ops.cast(y_pred, "float32") < LOG_ZERO / 2)
