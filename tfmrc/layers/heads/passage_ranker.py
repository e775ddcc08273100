import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.linear import linear
from tfmrc.ops.masking import LOG_ZERO


@keras.saving.register_keras_serializable(package="tfmrc")
class PassageRanker(Layer):
    """Computes the logit of each passage's relevance: `sigmoid(w . M[k, 0])`.

    A missing passage (its first position is padding) gets the logit `LOG_ZERO`: relevance zero.

    Args:
        initializer: float, str or initializer. That of the initial weight; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        passages: `[B, K, L, d]`, with BOS at the first position.
        passage_mask: boolean `[B, K, L]`, True = real.

    Returns:
        float32 `[B, K]`, logits of `beta`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import PassageRanker
        >>> mask = np.array([[[True, True], [False, False]]])
        >>> logits = PassageRanker()(np.zeros((1, 2, 2, 4), "float32"), mask)
        >>> print(np.array(logits))
        [[ 0.e+00 -1.e+09]]

    Reference: Nishida et al. 2019 (Masque), section 3.2, masque-11.
    """

    AXES = {"passages": "B K L d", "passage_mask": "B K L"}

    def __init__(self, initializer=0.02, **kwargs):
        super().__init__(**kwargs)
        self.score = linear(
            1, use_bias=False, initializer=initializer, dtype=self.dtype_policy, name="score"
        )

    def build(self, passages_shape):
        self.score.build((*passages_shape[:2], passages_shape[-1]))

    def call(self, passages, passage_mask):
        logits = ops.cast(self.score(passages[:, :, 0])[..., 0], "float32")  # masque-11
        return ops.where(passage_mask[:, :, 0], logits, LOG_ZERO)
