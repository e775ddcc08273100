import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.linear import initial
from tfmrc.ops.checks import check_indices
from tfmrc.ops.ids import NUM_SPECIAL, PAD
from tfmrc.ops.own_policy import own_policy
from tfmrc.ops.shapes import product


@keras.saving.register_keras_serializable(package="tfmrc")
class WordEmbedding(Layer):
    """Embeds words, with trainable rows for special words even if the other rows are frozen.

    The special words ([PAD], [UNK], [BOS], [EOS]) have no pretrained vectors, so their rows are
    trained even if the rows of the words (GloVe) are frozen. PAD gives zeros. The table consists of
    two weights, which are never concatenated as a whole.

    Args:
        vocabulary_size: int. Number of rows, including special words.
        dim: int. Width of the vectors.
        embeddings_trainable: bool. Whether to train the rows of the words. Default: False.
        initializer: float, str or initializer. That of the initial rows; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        x: int `[...]` input ids; with `num_rows`, vectors `[..., dim]`.
        num_rows: int. If given, computes the products of the vectors with the first rows of the
            table (a tied output embedding, as KerasHub's ReversibleEmbedding).
        rows: What `first_rows(num_rows)` returned, for decoding, which joins them once for all
            steps. Default: None.

    Returns:
        `[..., dim]`, or `[..., num_rows]` with `num_rows`, in the compute dtype.

    Raises:
        ValueError: If an id is negative or not below `vocabulary_size`, outside a graph.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import WordEmbedding
        >>> layer = WordEmbedding(vocabulary_size=10, dim=3)
        >>> tuple(layer(np.array([[0, 5]])).shape)
        (1, 2, 3)

    Reference: Nishida et al. 2019 (Masque), section 3.1.1 and appendix A.1.
    """

    def __init__(
        self, vocabulary_size, dim, embeddings_trainable=False, initializer=0.02, **kwargs
    ):
        super().__init__(**kwargs)
        self.dtype_policy = own_policy(self)
        self.vocabulary_size = vocabulary_size
        self.dim = dim
        self.embeddings_trainable = embeddings_trainable
        self.special = self.add_weight(
            shape=(NUM_SPECIAL, dim), initializer=initial(initializer), name="special"
        )
        self.words = self.add_weight(
            shape=(vocabulary_size - NUM_SPECIAL, dim),
            initializer=initial(initializer),
            trainable=embeddings_trainable,
            name="words",
        )
        self.built = True

    def first_rows(self, num_rows):
        """Returns the first rows of the table, `[num_rows, dim]`."""
        rows = ops.concatenate([self.special, self.words[: num_rows - NUM_SPECIAL]], axis=0)
        return ops.cast(rows, self.compute_dtype)

    def call(self, x, num_rows=None, rows=None):
        if num_rows is not None:
            return product(x, ops.transpose(self.first_rows(num_rows) if rows is None else rows))
        check_indices("x", x, self.vocabulary_size, of="rows of the word embedding")
        # `take` counts negative ids from the end; less the rows there are, they have none.
        first = ops.where(x < 0, x - NUM_SPECIAL, ops.minimum(x, NUM_SPECIAL - 1))
        special = ops.take(self.special, first, axis=0)
        words = ops.take(self.words, ops.maximum(x - NUM_SPECIAL, 0), axis=0)
        rows = ops.where((x < NUM_SPECIAL)[..., None], special, words)
        rows = ops.where(ops.equal(x, PAD)[..., None], 0.0, rows)
        return ops.cast(rows, self.compute_dtype)

    def compute_output_spec(self, x, num_rows=None, rows=None):
        shape = (*x.shape, self.dim) if num_rows is None else (*x.shape[:-1], num_rows)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)
