"""Word vectors from characters."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.linear import initial
from tfmrc.ops.masking import masked_max
from tfmrc.ops.own_policy import own_policy
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class CharacterEmbedding(Layer):
    """Embeds words by a character convolution and max pooling.

    `h_i = b + sum_k W_k e_{i+k}`, k from `-(w - 1) / 2` to `(w - 1) / 2`, `y = max_i h_i`. The word
    is surrounded by zeros, and the maximum is over its own characters, so the amount of padding has
    no effect. A word without characters gives zeros.

    The convolution uses lookup tables: `W_k e` does not depend on the position of a character, so
    it is computed once per character of the alphabet and then looked up. This needs
    `num_characters` products instead of one per character of the text, and no tensor
    `[..., n, c, w * dim]`.

    A departure from the paper, which draws all weights from a uniform distribution whose width is
    the average number of inputs and outputs (Glorot and Bengio 2010): the convolution follows it,
    the character vectors are drawn from N(0, 0.1), which does not depend on the size of the
    alphabet. For the paper's 66 characters of width 256 its distribution has a standard deviation
    of 0.08; `initializer=None` selects it. The paper states no activation, and there is none.

    Args:
        num_characters: int. Number of rows of the character table; row 0 is padding.
        dim: int. Width of the character vectors. Default: 200.
        output_dim: int. Width of the word vectors. Default: 200.
        kernel_width: int. Width of the convolution, an odd number of characters. Default: 3.
        initializer: float, str, initializer or None. That of the initial character vectors; a float
            is the standard deviation of a normal one, None Glorot uniform. Default: 0.1.

    Call arguments:
        characters: int `[..., n, c]`, 0 after a word's last character.
        projected: The output of `project()`; computed here if None.

    Returns:
        `[..., n, output_dim]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import CharacterEmbedding
        >>> layer = CharacterEmbedding(num_characters=9, dim=4, output_dim=5)
        >>> y = np.array(layer(np.array([[3, 1, 0, 0], [0, 0, 0, 0]])))
        >>> y.shape, bool(np.all(y[1] == 0)), bool(np.all(y[0] == layer(np.array([[3, 1]]))[0]))
        ((2, 5), True, True)

    Reference: Xiao et al. 2018 (DAANET), embedding layer, daanet-04.
    """

    def __init__(
        self, num_characters, dim=200, output_dim=200, kernel_width=3, initializer=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        self.dtype_policy = own_policy(self)
        self.num_characters = num_characters
        self.dim = dim
        self.output_dim = output_dim
        self.kernel_width = kernel_width
        self.table = self.add_weight(
            shape=(num_characters, dim), initializer=initial(initializer), name="table"
        )
        self.kernel = self.add_weight(
            shape=(kernel_width, dim, output_dim), initializer="glorot_uniform", name="kernel"
        )
        self.bias = self.add_weight(shape=(output_dim,), initializer="zeros", name="bias")
        self.built = True

    def project(self):
        """Returns the products of all characters with the kernel `[w, C, out]`, for all steps."""
        rows = ops.arange(self.num_characters)[:, None]
        table = ops.where(ops.equal(rows, 0), 0.0, ops.cast(self.table, self.compute_dtype))
        return ops.matmul(table, ops.cast(self.kernel, self.compute_dtype))

    def call(self, characters, projected=None):
        looked_up = self.project() if projected is None else projected
        width, side = sizes(characters)[-1], self.kernel_width // 2
        paddings = [[0, 0]] * (len(characters.shape) - 1) + [[side, side]]
        shifted = ops.pad(characters, paddings)  # [..., n, c + w - 1]
        sums = ops.cast(self.bias, self.compute_dtype)  # [out]
        for k in range(self.kernel_width):
            found = ops.take(looked_up[k], shifted[..., k : k + width], axis=0)
            sums = sums + found  # [..., n, c, out]
        return masked_max(sums, ops.not_equal(characters, 0)[..., None], axis=-2)  # daanet-04

    def compute_output_spec(self, characters, projected=None):
        shape = (*characters.shape[:-1], self.output_dim)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)
