"""Alignment of passage words to question words by similarity of word vectors."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.dense import Dense
from tfmrc.layers.recording import record
from tfmrc.ops.masking import masked_softmax


@keras.saving.register_keras_serializable(package="tfmrc")
class AlignedEmbedding(Layer):
    """Computes `f_align(p_i) = sum_j gamma_ij g(q_j)`, `gamma_ij = softmax_j(g(p_i) . g(q_j))`.

    `g` is a shared ReLU layer: `g(x) = ReLU(W_0 x)`.

    Padding: padded question words are ignored; a question without words gives zeros. Outputs at
    padded passage words are undefined.

    Args:
        dim: int. Width of `g`. Default: 280.

    Call arguments:
        passage: word vectors `[B, n, w]`.
        question: word vectors `[B, m, w]`.
        question_mask: boolean `[B, m]`, True = real; None for all real.

    Returns:
        `[B, n, dim]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import AlignedEmbedding
        >>> layer = AlignedEmbedding(dim=5)
        >>> tuple(layer(np.ones((2, 4, 3), "float32"), np.ones((2, 2, 3), "float32")).shape)
        (2, 4, 5)

    Reference: Liu et al. 2018 (SAN), section 2, lexicon encoding layer, san-03, san-04; Chen et
    al. 2017.
    """

    AXES = {"passage": "B n w", "question": "B m w", "question_mask": "B m"}

    def __init__(self, dim=280, **kwargs):
        super().__init__(**kwargs)
        self.dim = dim
        self.projection = Dense(
            dim, activation="relu", use_bias=False, dtype=self.dtype_policy, name="projection"
        )

    def build(self, passage_shape, question_shape, question_mask_shape=None):
        self.projection.build(passage_shape)

    def call(self, passage, question, question_mask=None):
        passage, question = self.projection(passage), self.projection(question)
        scores = ops.matmul(passage, ops.transpose(question, (0, 2, 1)))  # [B, n, m]
        mask = None if question_mask is None else question_mask[:, None]
        weights = record(self.name, masked_softmax(scores, mask))  # san-04
        return ops.matmul(weights, question)  # [B, n, dim], san-03

    def compute_output_shape(self, passage_shape, question_shape, question_mask_shape=None):
        return (*passage_shape[:-1], self.dim)
