import keras
from keras import ops


@keras.saving.register_keras_serializable(package="tfmrc")
class SmoothedBinaryCrossentropy(keras.losses.Loss):
    """Computes the elementwise binary cross-entropy of logits with one-sided label smoothing.

    A positive label becomes `positive_label`; a negative label stays 0. The last axis is not
    averaged, so that each passage has its own sample weight (0 for a missing passage).

    Args:
        positive_label: float. The smoothed value of a label of 1. Default: 0.9.

    Call arguments:
        y_true: labels 0 or 1, any shape.
        y_pred: logits of the same shape.

    Returns:
        The shape of `y_pred`, before the reduction.

    Example:
        >>> import numpy as np
        >>> from tfmrc.losses import SmoothedBinaryCrossentropy
        >>> loss = SmoothedBinaryCrossentropy(reduction=None)
        >>> print(np.round(loss(np.array([1.0, 0.0]), np.array([2.0, 2.0])), 4))
        [0.3269 2.1269]

    Reference: Nishida et al. 2019 (Masque), section 3.5 and appendix A.1, masque-24, masque-25.
    """

    def __init__(self, positive_label=0.9, name="smoothed_binary_crossentropy", **kwargs):
        super().__init__(name=name, **kwargs)
        self.positive_label = positive_label

    def call(self, y_true, y_pred):
        logits = ops.cast(y_pred, "float32")
        labels = ops.cast(y_true, "float32") * self.positive_label
        # softplus instead of max(x, 0) and |x|, whose gradients are wrong at a logit of exactly 0,
        # which an example without passages has.
        return ops.softplus(logits) - logits * labels  # masque-24, masque-25

    def get_config(self):
        return {**super().get_config(), "positive_label": self.positive_label}
