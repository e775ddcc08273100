import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.ops.ids import NUM_SPECIAL
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class SourceVocabulary(Layer):
    """Computes scores of the words of the sources, the example-specific vocabulary.

    The extended vocabulary consists of the common words and the words of this example's sources. A
    source word is included once, at its first occurrence, if it is not a common word and has its
    own row in the embedding. An unknown word can be copied but not generated.

    Args:
        num_common: int. Number of common words G, including special words.
        num_known: int. Number of rows of one word each, before the buckets for unknown words.

    Call arguments:
        hidden: `[B, T, word_dim]`, the decoder's output, projected to the width of word vectors.
        source_words: `[B, S, word_dim]`, the word vectors of the sources.
        source_ids: int `[B, S]` input ids.
        extended_ids: int `[B, S]` extended ids.
        columns: The output of `project(source_words)`; computed here if None.

    Returns:
        Scores `[B, T, S]` and a boolean mask `[B, S]` of the included words.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import SourceVocabulary
        >>> hidden, words = np.ones((1, 2, 4), "float32"), np.ones((1, 3, 4), "float32")
        >>> scores, generable = SourceVocabulary(num_common=6, num_known=9)(
        ...     hidden, words, source_ids=np.array([[8, 5, 8]]), extended_ids=np.array([[6, 5, 6]])
        ... )
        >>> print(np.array(generable))
        [[ True False False]]

    Reference: Nishida et al. 2019 (Masque), section 3.4.3, masque-13.
    """

    def __init__(self, num_common, num_known, **kwargs):
        super().__init__(**kwargs)
        self.num_common = num_common
        self.num_known = num_known
        self.built = True

    def project(self, source_words):
        """Returns the word vectors `[B, word_dim, S]`, which all steps of decoding read."""
        return ops.swapaxes(source_words, 1, 2)

    def call(self, hidden, source_words, source_ids, extended_ids, columns=None):
        columns = self.project(source_words) if columns is None else columns
        scores = ops.matmul(hidden, columns)  # masque-13
        position = ops.arange(sizes(extended_ids)[1], dtype=extended_ids.dtype)
        first = ops.equal(extended_ids, self.num_common + position)
        known = ops.logical_and(source_ids >= NUM_SPECIAL, source_ids < self.num_known)
        return scores, ops.logical_and(first, known)
