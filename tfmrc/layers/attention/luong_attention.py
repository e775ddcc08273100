import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.ops.masking import masked_softmax


@keras.saving.register_keras_serializable(package="tfmrc")
class LuongAttention(Layer):
    """Computes multiplicative attention and the attentional state.

    `r = U^T W_a d`, `a = softmax(r)`, `c = U a`, `d' = tanh(W_b [d; c])`. The keys `U^T W_a` are
    the same at every step; `project` computes them once.

    Padding is not attended to; a memory of padding gives a context of zeros.

    Args:
        units: int. Width of `d'`.

    Call arguments:
        states: `[B, T, d]`, the states `d` of the decoder.
        memory: `[B, M, m]`, the words `U`.
        memory_mask: boolean `[B, M]`, True = real.
        keys: The output of `project(memory)`; computed here if None.

    Returns:
        The attentional states `[B, T, units]`. `layer.scores(states, keys)` gives the raw scores
        `r` `[B, T, M]` in float32.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import LuongAttention
        >>> states, memory = np.ones((1, 2, 4), "float32"), np.ones((1, 3, 6), "float32")
        >>> tuple(LuongAttention(units=4)(states, memory, np.ones((1, 3), bool)).shape)
        (1, 2, 4)

    Reference: Luong et al. 2015; Zhao et al. 2018, section 2.3, qg-09 to qg-12. No biases, as
    printed.
    """

    AXES = {"states": "B T d", "memory": "B M m", "memory_mask": "B M"}

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, states_shape, memory_shape):
        width, memory_width = states_shape[-1], memory_shape[-1]
        self.key = self.add_dense("key", width, memory_width, use_bias=False)
        self.output_layer = self.add_dense(
            "output", self.units, width + memory_width, activation="tanh", use_bias=False
        )

    def project(self, memory):
        """Returns the keys `[B, M, d]`, which are the same at every step."""
        return self.key(memory)

    def scores(self, states, keys):
        """Returns the raw scores `r` `[B, T, M]`, float32, the copy scores of a pointer."""
        return ops.cast(ops.matmul(states, ops.swapaxes(keys, 1, 2)), "float32")  # qg-09

    def call(self, states, memory, memory_mask, keys=None):
        keys = self.project(memory) if keys is None else keys
        scores = self.scores(states, keys)  # [B, T, M]
        weights = masked_softmax(scores, memory_mask[:, None])  # qg-10
        context = ops.matmul(ops.cast(weights, self.compute_dtype), memory)  # [B, T, m], qg-11
        return self.output_layer(ops.concatenate([states, context], axis=-1))  # qg-12

    def compute_output_shape(self, states_shape, memory_shape=None):
        return (*states_shape[:-1], self.units)
