import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.linear import initial
from tfmrc.ops.own_policy import own_policy


@keras.saving.register_keras_serializable(package="tfmrc")
class AnswerTagEmbedding(Layer):
    """Appends an answer tag to every word vector: `[e_t; m_t]`.

    `m_t` is one of two trained vectors, for words inside and outside the answer. Outputs at padding
    must be masked by the next layer.

    Args:
        dim: int. Width of the tag vectors. Default: 3.
        initializer: float, str or initializer. That of the initial vectors; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        words: `[..., n, w]` word vectors.
        answer_tags: int `[..., n]`, 1 inside the answer and 0 outside.

    Returns:
        `[..., n, w + dim]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import AnswerTagEmbedding
        >>> words, tags = np.ones((1, 4, 5), "float32"), np.array([[0, 1, 1, 0]])
        >>> tuple(AnswerTagEmbedding(3)(words, tags).shape)
        (1, 4, 8)

    Reference: Zhao et al. 2018, section 2.2, qg-01.
    """

    def __init__(self, dim=3, initializer=0.02, **kwargs):
        super().__init__(**kwargs)
        self.dtype_policy = own_policy(self)
        self.dim = dim
        self.tags = self.add_weight(shape=(2, dim), initializer=initial(initializer), name="tags")
        self.built = True

    def call(self, words, answer_tags):
        tags = ops.take(self.tags, ops.clip(answer_tags, 0, 1), axis=0)  # [..., n, dim]
        words = ops.cast(words, self.compute_dtype)
        return ops.concatenate([words, ops.cast(tags, self.compute_dtype)], axis=-1)  # qg-01
