import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.linear import linear


@keras.saving.register_keras_serializable(package="tfmrc")
class AnswerPossibility(Layer):
    """Computes the logit of answerability: `sigmoid(w . [M[1, 0]; ...; M[K, 0]])`.

    The weight has `K d` numbers, so the number of passages is fixed when the layer is built. A
    missing passage contributes zeros.

    Args:
        initializer: float, str or initializer. That of the initial weight; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        passages: `[B, K, L, d]`, with BOS at the first position.
        passage_mask: boolean `[B, K, L]`, True = real.

    Returns:
        float32 `[B]`, the logit of `P(a)`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import AnswerPossibility
        >>> passages, mask = np.ones((3, 2, 2, 4), "float32"), np.ones((3, 2, 2), bool)
        >>> tuple(AnswerPossibility()(passages, mask).shape)
        (3,)

    Reference: Nishida et al. 2019 (Masque), section 3.3, masque-12.
    """

    AXES = {"passages": "B K L d", "passage_mask": "B K L"}

    def __init__(self, initializer=0.02, **kwargs):
        super().__init__(**kwargs)
        self.score = linear(
            1, use_bias=False, initializer=initializer, dtype=self.dtype_policy, name="score"
        )

    def build(self, passages_shape):
        self.width = passages_shape[1] * passages_shape[-1]
        self.score.build((passages_shape[0], self.width))

    def call(self, passages, passage_mask):
        first = ops.where(passage_mask[:, :, 0, None], passages[:, :, 0], 0.0)  # [B, K, d]
        logit = self.score(ops.reshape(first, (-1, self.width)))  # masque-12
        return ops.cast(logit[..., 0], "float32")
