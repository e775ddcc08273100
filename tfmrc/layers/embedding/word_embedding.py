import keras
from keras import ops

from tfmrc.layers.encoders.linear import normal
from tfmrc.ops.ids import NUM_SPECIAL, PAD


@keras.saving.register_keras_serializable(package="tfmrc")
class WordEmbedding(keras.layers.Layer):
    """Embeds words with special rows that are always trained and rows of the words.

    The special rows ([PAD], [UNK], [BOS], [EOS]) have no pre-trained vector, so they are trained
    also where the words' rows (GloVe) stay as they are. PAD gives zeros. The table is kept in two
    weights, and no step ever joins the whole of it.

    Args:
        vocabulary_size: rows of the table, the special ones included.
        dim: width of a vector.
        words_trainable: whether the words' rows are trained too.
        stddev: standard deviation of the initial rows.

    Call arguments:
        x: int `[...]` input ids; with `num_rows`, vectors `[..., dim]`.
        num_rows: if given, the table is read in reverse: the products of the vectors with its
            first rows (an output embedding tied to the input's, as KerasHub's ReversibleEmbedding).

    Returns:
        `[..., dim]`, or `[..., num_rows]` in reverse; in the compute dtype.

    Raises:
        ValueError: fewer rows than special ones.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import WordEmbedding
        >>> layer = WordEmbedding(vocabulary_size=10, dim=3)
        >>> tuple(layer(np.array([[0, 5]])).shape)
        (1, 2, 3)

    Reference: Nishida et al. 2019 (Masque), section 3.1.1 and appendix A.1.
    """

    def __init__(self, vocabulary_size, dim, words_trainable=False, stddev=0.02, **kwargs):
        super().__init__(**kwargs)
        if vocabulary_size <= NUM_SPECIAL:
            raise ValueError(
                f"A table needs rows beside its {NUM_SPECIAL} special ones. "
                f"Received: vocabulary_size={vocabulary_size}"
            )
        self.vocabulary_size = vocabulary_size
        self.dim = dim
        self.words_trainable = words_trainable
        self.stddev = stddev
        self.special = self.add_weight(
            shape=(NUM_SPECIAL, dim), initializer=normal(stddev), name="special"
        )
        self.words = self.add_weight(
            shape=(vocabulary_size - NUM_SPECIAL, dim),
            initializer=normal(stddev),
            trainable=words_trainable,
            name="words",
        )
        self.built = True

    def call(self, x, num_rows=None):
        if num_rows is not None:
            rows = ops.concatenate([self.special, self.words[: num_rows - NUM_SPECIAL]], axis=0)
            return ops.matmul(x, ops.cast(ops.transpose(rows), self.compute_dtype))
        special = ops.take(self.special, ops.clip(x, 0, NUM_SPECIAL - 1), axis=0)
        words = ops.take(self.words, ops.maximum(x - NUM_SPECIAL, 0), axis=0)
        rows = ops.where((x < NUM_SPECIAL)[..., None], special, words)
        rows = ops.where(ops.equal(x, PAD)[..., None], 0.0, rows)
        return ops.cast(rows, self.compute_dtype)

    def compute_output_spec(self, x, num_rows=None):
        shape = (*x.shape, self.dim) if num_rows is None else (*x.shape[:-1], num_rows)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "dim": self.dim,
            "words_trainable": self.words_trainable,
            "stddev": self.stddev,
        }
