"""Scores of subwords as parts of the evidence."""

import keras
from keras import ops

from tfmrc.layers.heads.linear_answer import LinearAnswer
from tfmrc.ops.masking import LOG_ZERO


@keras.saving.register_keras_serializable(package="tfmrc")
class EvidenceScores(LinearAnswer):
    """Computes one score of each word, the log-odds that it is part of the evidence.

    `s_j = w . M_j + c`, of each word alone. The arguments are those of `LinearAnswer`.

    Padding: padded words have the score `LOG_ZERO`.

    Call arguments:
        question: ignored.
        memory: `[B, n, d]`.
        question_mask: ignored.
        memory_mask: boolean `[B, n]`, True = real.
        num_steps, return_steps: ignored.
        training: bool. Whether to apply dropout.

    Returns:
        A dict: `evidence` float32 `[B, n]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import EvidenceScores
        >>> memory, mask = np.zeros((1, 2, 4)), np.array([[True, False]])
        >>> scores = EvidenceScores()(memory, memory, question_mask=mask, memory_mask=mask)
        >>> (np.array(scores["evidence"]) > -1).tolist()
        [[True, False]]
    """

    num_scores = 1

    def call(
        self,
        question,
        memory,
        question_mask,
        memory_mask,
        num_steps=None,
        return_steps=False,
        training=None,
    ):
        scores = ops.cast(self.scores_of(memory, training)[..., 0], "float32")  # [B, n]
        return {"evidence": ops.where(memory_mask, scores, LOG_ZERO)}
