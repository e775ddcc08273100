import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class LocalConvolution(Layer):
    """Applies a residual convolution over neighbouring words.

    `x_i + W [x_{i-r}; ...; x_{i+r}] + b`, `r = width // 2`. In a small model without a contextual
    embedding, it provides local context, which ELMo provides in the paper. Neighbours beyond the
    ends and at padding are zeros.

    Args:
        width: int. Number of words in the window, an odd number. Default: 5.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        x: `[..., n, d]`.
        padding_mask: boolean `[..., n]`, True = real.

    Returns:
        `[..., n, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import LocalConvolution
        >>> x, mask = np.ones((2, 5, 4), "float32"), np.ones((2, 5), bool)
        >>> tuple(LocalConvolution(width=3)(x, mask).shape)
        (2, 5, 4)

    Reference: not in Nishida et al. 2019; Yu et al. 2018 (QANet) has convolutions for the same
    purpose.
    """

    def __init__(self, width=5, initializer=0.02, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.initializer = initializer

    def build(self, x_shape):
        dim = x_shape[-1]
        self.mixing = self.add_dense("mixing", dim, self.width * dim, initializer=self.initializer)

    def call(self, x, padding_mask):
        radius, length = self.width // 2, sizes(x)[-2]
        words = ops.where(padding_mask[..., None], x, 0.0)
        paddings = [[0, 0]] * (len(x.shape) - 2) + [[radius, radius], [0, 0]]
        words = ops.pad(words, paddings)  # [..., n + 2 radius, d]
        window = [words[..., i : i + length, :] for i in range(self.width)]
        return x + self.mixing(ops.concatenate(window, axis=-1))

    def compute_output_shape(self, x_shape):
        return x_shape
