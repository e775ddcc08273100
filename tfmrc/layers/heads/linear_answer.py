"""Linear span prediction head, the standard baseline."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.heads.prediction_head import PredictionHead
from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops.masking import masked_log_softmax


@keras.saving.register_keras_serializable(package="tfmrc")
class LinearAnswer(Layer):
    """Predicts the begin and end of an answer from each word's vector.

    `P_begin = softmax_j(w_b . M_j + c_b)`, `P_end = softmax_j(w_e . M_j + c_e)`. The arguments are
    those of SAN's answer modules, but the question is ignored: an encoder that reads question and
    passage as one sequence has already encoded it in the passage.

    Padding: padded words have the log-probability `LOG_ZERO`; a passage without words has
    `LOG_ZERO` everywhere.

    Args:
        dropout: float. Dropout rate on the memory. Default: 0.0.
        prediction_head: dict or None. Arguments of a `PredictionHead` on the memory; None for none.
            Default: None.
        seed: int. Seed of the dropout. Default: None.

    Call arguments:
        question: ignored.
        memory: `[B, n, d]`.
        question_mask: ignored.
        memory_mask: boolean `[B, n]`, True = real.
        num_steps: None or 1.
        return_steps: bool. Whether to also return the single step.
        training: bool. Whether to apply dropout.

    Returns:
        A dict, float32: `begin` and `end` `[B, n]`, log-probabilities. With `return_steps` also
        `step_begin` and `step_end` `[B, 1, n]`, and `step_weights` `[B, 1]`, ones.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import LinearAnswer
        >>> memory, mask = np.ones((1, 3, 4)), np.array([[True, True, False]])
        >>> outputs = LinearAnswer()(memory, memory, question_mask=mask, memory_mask=mask)
        >>> np.exp(np.array(outputs["begin"])).round(3).tolist()
        [[0.5, 0.5, 0.0]]

    Reference: Devlin et al. 2019, section 4.2.
    """

    AXES = {"memory": "B n d", "memory_mask": "B n"}
    num_scores = 2

    def __init__(self, dropout=0.0, seed=None, prediction_head=None, **kwargs):
        super().__init__(**kwargs)
        self.input_dropout = Dropout(dropout, seed, dtype=self.dtype_policy, name="input_dropout")
        self.prediction_head = None
        if prediction_head is not None:
            self.prediction_head = PredictionHead(
                **prediction_head, dtype=self.dtype_policy, name="prediction_head"
            )

    def build(self, question_shape, memory_shape, *mask_shapes):
        if self.prediction_head is not None:
            self.prediction_head.build(memory_shape)
        self.scores = self.add_dense("scores", self.num_scores, memory_shape[-1])

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
        scores = self.scores_of(memory, training)
        outputs = {
            name: masked_log_softmax(scores[..., index], memory_mask)
            for index, name in enumerate(("begin", "end"))
        }
        if return_steps:
            steps = {f"step_{name}": value[:, None] for name, value in outputs.items()}
            outputs |= steps | {"step_weights": ops.ones_like(outputs["begin"][:, :1])}
        return outputs

    def scores_of(self, memory, training=False):
        """Returns the scores of begin and end, `[B, n, num_scores]`."""
        if self.prediction_head is not None:
            memory = self.prediction_head(memory, training=bool(training))
        return self.scores(self.input_dropout(memory, training=training))
