"""Working memory of SAN: question-aware self-attention over the passage."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.bidirectional_lstm import BidirectionalLSTM
from tfmrc.layers.recording import record
from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops.masking import masked_softmax
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class MemoryGeneration(Layer):
    """Applies question attention, self-attention without diagonal, and a bidirectional LSTM.

    `C = dropout(softmax_question(ReLU(W_3 H_p) . ReLU(W_3 H_q)))`, `U = [H_p; C H_q]`,
    `U' = dropout(drop_diag(softmax(U . U))) U`, `M = BiLSTM([U; U'])`. A word does not align to
    itself: the diagonal is removed before the softmax, so that the weights of the other words sum
    to one.

    Padding: padded words are not attended to. Without any word to attend to (an empty question, a
    passage of one word), the attention is zero. Outputs at padding are zeros.

    Args:
        units: int. Width of one direction of the LSTM.
        attention_dim: int. Width of the ReLU projection; None for the width of `H`. Default: None.
        dropout: float. Dropout rate on the attention weights and (variational) the LSTM's inputs.
            Default: 0.0.
        seed: int. Seed of the dropout. Default: None.

    Call arguments:
        passage: `[B, n, h]`.
        question: `[B, m, h]`.
        passage_mask: boolean `[B, n]`, True = real.
        question_mask: boolean `[B, m]`.
        training: bool. Whether to apply dropout.

    Returns:
        `[B, n, 2 * units]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import MemoryGeneration
        >>> layer = MemoryGeneration(units=3)
        >>> passage, question = np.ones((2, 5, 4), "float32"), np.ones((2, 2, 4), "float32")
        >>> tuple(layer(passage, question, np.ones((2, 5), bool), np.ones((2, 2), bool)).shape)
        (2, 5, 6)

    Reference: Liu et al. 2018 (SAN), section 2, memory generation layer, equations 1 to 4: san-05,
    san-06, san-07, san-08.
    """

    AXES = {"passage": "B n h", "question": "B m h", "passage_mask": "B n", "question_mask": "B m"}

    def __init__(self, units, attention_dim=None, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.attention_dim = attention_dim
        dtype = self.dtype_policy

        def seeded(number):
            return None if seed is None else seed + number

        self.question_dropout = Dropout(dropout, seeded(0), dtype=dtype, name="question_dropout")
        self.self_dropout = Dropout(dropout, seeded(1), dtype=dtype, name="self_dropout")
        self.lstm = BidirectionalLSTM(
            units, dropout=dropout, seed=seeded(2), dtype=dtype, name="lstm"
        )

    def build(self, passage_shape, question_shape, *mask_shapes):
        width = passage_shape[-1]
        self.projection = self.add_dense(
            "projection", self.attention_dim or width, width, activation="relu", use_bias=False
        )
        self.lstm.build((*passage_shape[:-1], 2 * (width + question_shape[-1])))

    def call(self, passage, question, passage_mask, question_mask, training=None):
        scores = _products(self.projection(passage), self.projection(question))
        weights = masked_softmax(scores, question_mask[:, None])  # [B, n, m], san-05
        record(f"{self.name}.question", weights)
        attended = ops.matmul(self.question_dropout(weights, training=training), question)
        aware = ops.concatenate([passage, attended], axis=-1)  # [B, n, 2h], san-06
        position = ops.arange(sizes(passage)[1])
        others = ops.not_equal(position[:, None], position)  # [n, n], without the diagonal
        others = ops.logical_and(others, passage_mask[:, None])  # [B, n, n]
        weights = masked_softmax(_products(aware, aware), others)  # [B, n, n], san-07
        record(f"{self.name}.self", weights)
        rearranged = ops.matmul(self.self_dropout(weights, training=training), aware)
        both = ops.concatenate([aware, rearranged], axis=-1)  # [B, n, 4h]
        return self.lstm(both, padding_mask=passage_mask, training=training)  # san-08

    def compute_output_shape(self, passage_shape, *other_shapes):
        return (*passage_shape[:-1], 2 * self.units)


def _products(x, y):
    return ops.matmul(x, ops.transpose(y, (0, 2, 1)))
