"""Word vectors from characters."""

import keras
from keras import ops

from tfmrc.layers.encoders.linear import normal
from tfmrc.ops.masking import masked_max


@keras.saving.register_keras_serializable(package="tfmrc")
class CharacterEmbedding(keras.layers.Layer):
    """Embeds a word by a convolution over its characters and the maximum over the word.

    `h_i = b + sum_k W_k e_{i+k}`, k from `-(w - 1) / 2` to `(w - 1) / 2`, `y = max_i h_i`. Beyond
    the word's ends stand zeros, and the maximum is over its own characters: how far a word is
    padded does not matter, and a word without characters gives zeros.

    The convolution is read from tables: `W_k e` is the same wherever a character stands, so it is
    made once for every character of the alphabet, and the positions add what they look up. That is
    `num_characters` products instead of one a character of the text, and no
    `[..., n, c, w * dim]` is built.

    The paper does not say how the convolution begins; its weights are drawn as all others there,
    by Glorot's uniform law. It names no activation, and there is none.

    Args:
        num_characters: rows of the character table; row 0 is padding.
        dim: width of a character's vector.
        output_dim: width of a word's vector.
        kernel_width: characters that the convolution sees at once, odd.
        stddev: standard deviation of the initial character vectors.

    Call arguments:
        characters: int `[..., n, c]`, 0 after a word's last character.

    Returns:
        `[..., n, output_dim]`.

    Raises:
        ValueError: `kernel_width` is even.

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
        self, num_characters, dim=200, output_dim=200, kernel_width=3, stddev=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        if kernel_width % 2 == 0:
            raise ValueError(
                "A convolution that looks as far back as ahead has an odd width. "
                f"Received: kernel_width={kernel_width}"
            )
        self.num_characters = num_characters
        self.dim = dim
        self.output_dim = output_dim
        self.kernel_width = kernel_width
        self.stddev = stddev
        self.table = self.add_weight(
            shape=(num_characters, dim), initializer=normal(stddev), name="table"
        )
        self.kernel = self.add_weight(
            shape=(kernel_width, dim, output_dim), initializer="glorot_uniform", name="kernel"
        )
        self.bias = self.add_weight(shape=(output_dim,), initializer="zeros", name="bias")
        self.built = True

    def call(self, characters):
        rows = ops.arange(self.num_characters)[:, None]
        table = ops.where(ops.equal(rows, 0), 0.0, ops.cast(self.table, self.compute_dtype))
        looked_up = ops.matmul(table, ops.cast(self.kernel, self.compute_dtype))  # [w, C, out]
        width, side = ops.shape(characters)[-1], self.kernel_width // 2
        around = [[0, 0]] * (len(characters.shape) - 1) + [[side, side]]
        shifted = ops.pad(characters, around)
        sums = ops.cast(self.bias, self.compute_dtype)
        for k in range(self.kernel_width):
            sums = sums + ops.take(looked_up[k], shifted[..., k : k + width], axis=0)
        return masked_max(sums, ops.not_equal(characters, 0)[..., None], axis=-2)  # daanet-04

    def compute_output_spec(self, characters):
        shape = (*characters.shape[:-1], self.output_dim)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "num_characters": self.num_characters,
            "dim": self.dim,
            "output_dim": self.output_dim,
            "kernel_width": self.kernel_width,
            "stddev": self.stddev,
        }
