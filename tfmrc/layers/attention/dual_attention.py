import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.linear import initial
from tfmrc.layers.recording import record
from tfmrc.ops.checks import check_shape
from tfmrc.ops.masking import masked_max, masked_softmax
from tfmrc.ops.similarity import trilinear_similarity


@keras.saving.register_keras_serializable(package="tfmrc")
class DualAttention(Layer):
    """Computes dual attention between a question and all its passages.

    With `U = similarity(E_p, E_q)` `[L, J]` per passage, `A = softmax_j U`, `B = softmax_l U`:

    - `A1 = A E_q`, `A2 = A B1` `[L, d]`; `B1 = B^T E_p`, `B2 = B^T A1` `[J, d]`,
    - `G_qp = [E_p; A1; A2; E_p * A1; E_p * A2]` for each passage,
    - `G_pq = [E_q; m1; m2; E_q * m1; E_q * m2]`, `m1`, `m2` the maxima of `B1`, `B2` over passages.

    Padded words are not attended to; passages of padding are excluded from the maxima (zeros if no
    passage is real).

    Args:
        initializer: float, str or initializer. That of the initial similarity weight; a float is
            the standard deviation of a normal one. Default: 0.02.
        similarity_init: float. Mean of the initial weights of `q * p` in the similarity, times the
            square root of d. With 1 the similarity starts as the scaled dot product, so that equal
            words attend to each other from the first training step. The paper has 0. Default: 0.0.

    Call arguments:
        passages: `[B, K, L, d]`.
        question: `[B, J, d]`.
        passage_mask: boolean `[B, K, L]`, True = real.
        question_mask: boolean `[B, J]`.

    Returns:
        `G_qp` `[B, K, L, 5d]` and `G_pq` `[B, J, 5d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import DualAttention
        >>> passages, question = np.ones((1, 2, 3, 4), "float32"), np.ones((1, 5, 4), "float32")
        >>> g_qp, g_pq = DualAttention()(
        ...     passages, question, np.ones((1, 2, 3), bool), np.ones((1, 5), bool)
        ... )
        >>> tuple(g_qp.shape), tuple(g_pq.shape)
        ((1, 2, 3, 20), (1, 5, 20))

    Reference: Nishida et al. 2019 (Masque), section 3.1.3, masque-02 to masque-10. The Japanese
    paper states a similarity weight of 6d numbers; its formula has 3d, as in the English paper.
    """

    AXES = {"passages": "B K L d", "question": "B J d"}

    def __init__(self, initializer=0.02, similarity_init=0.0, **kwargs):
        super().__init__(**kwargs)
        self.initializer = initializer
        self.similarity_init = similarity_init

    def build(self, passages_shape, question_shape):
        dim = question_shape[-1]

        def similarity(shape, dtype=None):
            product = ops.arange(3 * dim) >= 2 * dim
            mean = ops.where(product, self.similarity_init / dim**0.5, 0.0)
            draw = keras.initializers.get(initial(self.initializer))
            return draw(shape, dtype=dtype) + ops.cast(mean, dtype)

        self.similarity = self.add_weight((3 * dim,), initializer=similarity, name="similarity")

    def call(self, passages, question, passage_mask, question_mask):
        check_shape("passage_mask", passage_mask, *passages.shape[:-1], like="the passages' words")
        check_shape("question_mask", question_mask, *question.shape[:-1], like="its words")
        one_question = question[:, None]  # [B, 1, J, d]
        weight = ops.cast(self.similarity, self.compute_dtype)
        scores = trilinear_similarity(passages, one_question, weight)  # [B, K, L, J]
        a = masked_softmax(scores, question_mask[:, None, None, :], axis=-1)  # masque-03
        b = masked_softmax(scores, passage_mask[..., None], axis=-2)  # masque-04
        record(f"{self.name}.a", a)
        record(f"{self.name}.b", b)
        b_t = ops.swapaxes(b, -1, -2)  # [B, K, J, L]
        a1 = ops.matmul(a, one_question)  # [B, K, L, d], masque-05
        b1 = ops.matmul(b_t, passages)  # [B, K, J, d], masque-06
        a2 = ops.matmul(a, b1)  # [B, K, L, d], masque-07
        b2 = ops.matmul(b_t, a1)  # [B, K, J, d], masque-08
        real = ops.any(passage_mask, axis=-1)[:, :, None, None]  # [B, K, 1, 1]
        m1, m2 = masked_max(b1, real, axis=1), masked_max(b2, real, axis=1)  # [B, J, d]
        g_qp = _enriched(passages, a1, a2)  # masque-09
        g_pq = _enriched(question, m1, m2)  # masque-10
        return g_qp, g_pq

    def compute_output_shape(self, passages_shape, question_shape):
        width = 5 * question_shape[-1]
        return (*passages_shape[:-1], width), (*question_shape[:-1], width)


def _enriched(words, first, second):
    return ops.concatenate([words, first, second, words * first, words * second], axis=-1)
