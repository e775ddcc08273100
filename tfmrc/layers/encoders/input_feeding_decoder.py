import keras
from keras import ops

from tfmrc.layers.attention.luong_attention import LuongAttention
from tfmrc.layers.base import Layer
from tfmrc.layers.recording import record
from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops.masking import masked_softmax
from tfmrc.ops.shapes import product
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class InputFeedingDecoder(Layer):
    """Applies LSTM layers with input feeding and attention.

    At each step the lowest layer reads `[y_{t-1}; d'_{t-1}]`, and each other layer the output of
    the layer below. The output of the highest layer is `d_t`, from which `LuongAttention` computes
    the attentional state `d'_t`. Before the first word `d'` is zero. Without attention
    `d'_t = d_t`, and the lowest layer reads only `y_{t-1}`.

    The words are projected for the lowest layer in one product for all steps. `call` and
    `decode_step` share the code of a step; `call` loops over a beam of one.

    A state is a list: `d'`, then `h` and `c` of each layer from the lowest on.

    Args:
        units: int. Width of all states.
        num_layers: int. Number of LSTM layers. Default: 2.
        dropout: float. Dropout rate between layers, with a new mask at every step. Default: 0.0.
        attention: bool. Whether to use attention. Default: True.

    Call arguments:
        words: `[B, T, w]`, the vectors of the words before each target.
        state: list of `[B, units]`: `h` and `c` of each layer before the first word.
        memory: `[B, M, m]`; None without attention.
        memory_mask: boolean `[B, M]`, True = real; None without attention.
        keys: The output of `project(memory)`; computed here if None.

    Returns:
        A dict: `states`, the attentional states `d'` `[B, T, units]`; with attention also
        `scores`, the raw scores `r` of all words for each step, float32 `[B, T, M]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import InputFeedingDecoder
        >>> layer = InputFeedingDecoder(units=4, num_layers=2)
        >>> words, memory = np.ones((1, 3, 5), "float32"), np.ones((1, 6, 8), "float32")
        >>> state = [np.zeros((1, 4), "float32")] * 4
        >>> outputs = layer(words, state, memory, np.ones((1, 6), bool))
        >>> tuple(outputs["states"].shape), tuple(outputs["scores"].shape)
        ((1, 3, 4), (1, 3, 6))

    Reference: Zhao et al. 2018, section 2.3, qg-07 and qg-09 to qg-12; Luong et al. 2015,
    section 3.3.
    """

    AXES = {"words": "B T w", "memory": "B M m", "memory_mask": "B M"}

    def __init__(self, units, num_layers=2, dropout=0.0, attention=True, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.num_layers = num_layers
        self.dropout = dropout
        self.has_attention = attention
        # XLA has no gradient of TensorFlow's loop, whose greatest length Keras leaves out.
        self.supports_jit = keras.backend.backend() != "tensorflow"
        self.dropping = Dropout(dropout, name="dropping", dtype=self.dtype_policy)
        if attention:
            self.attention = LuongAttention(units, name="attention", dtype=self.dtype_policy)

    def build(self, words_shape, state_shape, memory_shape=None):
        units = self.units
        self.word_kernel = self.add_weight((words_shape[-1], 4 * units), name="word_kernel")
        self.kernels, self.biases = [], []
        for number in range(self.num_layers):
            below = units if number or self.has_attention else 0
            shape, name = (below + units, 4 * units), f"_{number + 1}"
            self.kernels.append(self.add_weight(shape, name=f"kernel{name}"))
            self.biases.append(self.add_weight(shape[1:], initializer=_forget, name=f"bias{name}"))
        if self.has_attention:
            self.attention.build((None, None, units), memory_shape)

    def project(self, memory):
        """Returns the keys of the attention, the same at every step; None without attention."""
        return self.attention.project(memory) if self.has_attention else None

    def call(self, words, state, memory=None, memory_mask=None, keys=None, training=False):
        keys = self.project(memory) if keys is None else keys
        batch, length = sizes(words)[:2]
        steps = self._by_time(self._words_part(words))[:, :, None]  # [T, B, 1, 4 units]
        dropping = training and self.dropout and self.num_layers > 1
        if dropping:
            # Concatenated with the words, because Keras' scan over several tensors requires a
            # static length.
            shape = (length, batch, 1, (self.num_layers - 1) * self.units)
            masks = self.dropping(ops.ones(shape, dtype=self.compute_dtype), training=True)
            steps = ops.concatenate([steps, masks], axis=-1)

        def advance(carry, step):
            words = step[..., : 4 * self.units]
            masks = step[..., 4 * self.units :] if dropping else None
            carry = self._advance(words, carry, memory, memory_mask, keys, masks)
            return carry, carry

        begin = [x[:, None] for x in self.init_cache(state)]  # a beam of one
        _, states = ops.scan(advance, begin, steps)
        outputs = {"states": self._by_time(states[0][:, :, 0])}  # [B, T, units]
        if self.has_attention:
            # Recomputed outside the loop: one product for all steps, and one for its gradient.
            plain = self._by_time(states[-2][:, :, 0])
            outputs["scores"] = self.attention.scores(plain, keys)
            record(self.name, masked_softmax(outputs["scores"], memory_mask[:, None]))
        return outputs

    def init_cache(self, state):
        """Returns the state before the first word.

        Args:
            state: list of `[..., units]`: `h` and `c` of each layer.
        """
        state = [ops.cast(x, self.compute_dtype) for x in state]
        return [ops.zeros_like(state[0]), *state]

    def decode_step(self, words, state, memory=None, memory_mask=None, keys=None):
        """Computes one step for several beams.

        Args:
            words: `[B, W, w]`, the vectors of the beams' last words.
            state: list of `[B, W, units]`, the output of `init_cache` or of the previous step.
            memory, memory_mask, keys: as in the call.

        Returns:
            The outputs of the call, `states` `[B, W, units]` and `scores` `[B, W, M]`, and the
            new state.
        """
        state = self._advance(self._words_part(words), state, memory, memory_mask, keys)
        outputs = {"states": state[0]}
        if self.has_attention:
            outputs["scores"] = self.attention.scores(state[-2], keys)
        return outputs, state

    def _words_part(self, words):
        words = ops.cast(words, self.compute_dtype)
        return product(words, self._cast(self.word_kernel)) + self._cast(self.biases[0])

    def _advance(self, words_part, state, memory, memory_mask, keys, masks=None):
        below, new = state[0], []
        for number in range(self.num_layers):
            h, c = state[1 + 2 * number : 3 + 2 * number]
            read = [below, h] if number or self.has_attention else [h]
            gates = product(ops.concatenate(read, axis=-1), self._cast(self.kernels[number]))
            gates = gates + (self._cast(self.biases[number]) if number else words_part)  # [.., 4 u]
            into, forget, value, out = ops.split(gates, 4, axis=-1)
            c = ops.sigmoid(forget) * c + ops.sigmoid(into) * ops.tanh(value)
            h = ops.sigmoid(out) * ops.tanh(c)  # qg-07
            new += [h, c]
            below = h
            if masks is not None and number < self.num_layers - 1:
                below = h * masks[..., number * self.units : (number + 1) * self.units]
        if self.has_attention:
            below = self.attention(below, memory, memory_mask, keys=keys)
        return [below, *new]

    def _cast(self, weight):
        return ops.cast(weight, self.compute_dtype)

    @staticmethod
    def _by_time(x):
        """Swaps batch and time."""
        return ops.swapaxes(x, 0, 1)

    def compute_output_spec(
        self, words, state, memory=None, memory_mask=None, keys=None, training=False
    ):
        shape = (*words.shape[:2], self.units)
        outputs = {"states": keras.KerasTensor(shape, dtype=self.compute_dtype)}
        if self.has_attention:
            shape = (*words.shape[:2], memory.shape[1])
            outputs["scores"] = keras.KerasTensor(shape, dtype="float32")
        return outputs


def _forget(shape, dtype=None):
    """Initializes with zeros, and ones for the forget gates (Jozefowicz et al. 2015)."""
    into = value = out = ops.zeros((shape[0] // 4,), dtype=dtype)
    return ops.concatenate([into, ops.ones_like(into), value, out])
