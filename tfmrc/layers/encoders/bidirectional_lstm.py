"""Bidirectional LSTM that ignores padding."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.linear import initial
from tfmrc.layers.regularization.variational_dropout import VariationalDropout
from tfmrc.ops import portable
from tfmrc.ops.checks import check_shape
from tfmrc.ops.recurrence import lstm, project_gates
from tfmrc.ops.shapes import flatten_leading, restore_leading
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class Float32Orthogonal(keras.initializers.Orthogonal):
    """Keras' orthogonal initializer, which computes weights in bfloat16 in float32.

    No backend decomposes a bfloat16 matrix. The dtype is known when the weights are created: a
    `keras.dtype_policies.DTypePolicyMap` gives it by the layer's path.
    """

    def __call__(self, shape, dtype=None):
        dtype = keras.backend.standardize_dtype(dtype)
        values = super().__call__(shape, "float32" if dtype == "bfloat16" else dtype)
        return ops.cast(values, dtype)


@keras.saving.register_keras_serializable(package="tfmrc")
class BidirectionalLSTM(Layer):
    """Applies an LSTM in both directions.

    `h_t = [LSTM(x_t, h_{t-1}); LSTM'(x_t, h_{t+1})]`. One matrix product per direction projects the
    inputs of all words, and another one computes the gradient of the recurrent weights
    (`tfmrc.ops.recurrence`).

    Padding: real words come first. The backward direction begins at each row's last real word, the
    outputs at padding are zeros, and a row without any word gives zeros and its initial state.

    `initializer` applies to the input weights. The recurrent weights are orthogonal and the biases
    of the forget gates are 1, as in Keras. This departs from the paper of Masque, which draws all
    weights from N(0, 0.02): with such weights an LSTM forgets half of its state at each word.

    On a GPU, cuDNN runs through `keras.layers.LSTM`, unless `use_cudnn` is False or the graph is
    traced inside `tfmrc.ops.portable.portable()`, as exports are (a graph with cuDNN's operation
    only runs on GPUs). Otherwise the loop of `tfmrc.ops.recurrence` runs. Both use the same
    weights, those of two `keras.layers.LSTM`.

    Args:
        units: int. Width of one direction.
        causal: bool. Whether to read from left to right only, so that no output depends on a later
            word. Default: False.
        return_state: bool. Whether to also return the states after the last step of each direction.
            Default: False.
        dropout: float. Variational dropout rate on the inputs: one mask for all words of a row.
            Default: 0.0.
        use_cudnn: "auto" or False. Default: "auto".
        initializer: float, str or initializer. That of the initial input weights; a float is the
            standard deviation of a normal one, None Keras' default. Default: None.
        seed: int. Seed of the dropout. Default: None.

    Call arguments:
        x: `[..., n, d]`.
        padding_mask: boolean `[..., n]`, True = real; None for all real.
        initial_state: `(hidden, cell)`, each `[..., units]`; for a causal layer only. Zeros by
            default.
        training: bool. Whether to apply dropout.

    Returns:
        `[..., n, 2 * units]`, forward then backward; `[..., n, units]` for a causal layer. With
        `return_state` a tuple `(outputs, hidden, cell)`, the states `[..., 2 * units]` (or
        `[..., units]`): forward after the last real word, backward after the first word.

    Raises:
        ValueError: If `initial_state` is given to a layer that is not causal.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import BidirectionalLSTM
        >>> layer = BidirectionalLSTM(3, return_state=True)
        >>> mask = np.array([[True, True, False], [False, False, False]])
        >>> outputs, hidden, cell = layer(np.ones((2, 3, 4), "float32"), padding_mask=mask)
        >>> tuple(outputs.shape), tuple(hidden.shape)
        ((2, 3, 6), (2, 6))

    Reference: Hochreiter and Schmidhuber 1997; Liu et al. 2018 (SAN), section 2.
    """

    def __init__(
        self,
        units,
        causal=False,
        return_state=False,
        dropout=0.0,
        use_cudnn="auto",
        initializer=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.causal = causal
        self.return_state = return_state
        self.use_cudnn = use_cudnn
        self.initializer = initializer
        self.input_dropout = VariationalDropout(
            dropout, seed, dtype=self.dtype_policy, name="dropout"
        )
        self.directions = [self._direction(n) for n in ("forward", "backward")[: 2 - causal]]

    def _direction(self, name):
        return keras.layers.LSTM(
            self.units,
            return_sequences=True,
            return_state=True,
            kernel_initializer=initial(self.initializer),
            recurrent_initializer=Float32Orthogonal,
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, x_shape):
        for direction in self.directions:
            direction.build((None, None, x_shape[-1]))

    def call(self, x, padding_mask=None, initial_state=None, training=None):
        if initial_state is not None and not self.causal:
            raise ValueError(
                "`initial_state` needs a causal layer, because the backward direction begins at "
                f"the last word. Received: causal={self.causal}"
            )
        if padding_mask is not None:
            check_shape("padding_mask", padding_mask, *x.shape[:-1], like="`x` without its width")
        x = self.input_dropout(x, training=training)
        rows = flatten_leading(x, keep=2)
        mask = None if padding_mask is None else flatten_leading(padding_mask, keep=1)
        if initial_state is None:
            zeros = ops.zeros((sizes(rows)[0], self.units), rows.dtype)
            initial_state = zeros, zeros
        initial_state = [flatten_leading(state, keep=1) for state in initial_state]
        if self.use_cudnn and portable.has_gpu() and not portable.is_portable():
            result = self.by_keras(rows, mask, initial_state)
        else:
            result = self.by_loop(rows, mask, initial_state)
        outputs, *states = (ops.concatenate(part, axis=-1) for part in zip(*result, strict=True))
        if mask is not None:
            outputs = ops.where(ops.expand_dims(mask, -1), outputs, 0.0)
        outputs = restore_leading(ops.cast(outputs, x.dtype), like=x)
        if not self.return_state:
            return outputs
        one_position = x[..., 0, :]
        return outputs, *(restore_leading(ops.cast(s, x.dtype), like=one_position) for s in states)

    def by_loop(self, x, mask, initial_state):
        """Returns outputs and last states of each direction, computed by tfmrc's loop."""
        by_time = ops.transpose(x, (1, 0, 2))  # [n, B, d]
        readable = None if mask is None else ops.transpose(mask)
        first, second = initial_state
        result = []
        for number, direction in enumerate(self.directions):
            cell = direction.cell
            # One product per direction: a joint product would have to be split again.
            gates = project_gates(by_time, cell.kernel, cell.bias, readable)
            reverse = number == 1
            hidden, state = lstm(gates, cell.recurrent_kernel, first, second, reverse)
            hidden = ops.transpose(hidden, (1, 0, 2))  # [B, n, units]
            if reverse:
                result.append((hidden, hidden[:, 0], state[0]))
            else:
                result.append((hidden, _last(hidden, mask, first), state[-1]))
        return result

    def by_keras(self, x, mask, initial_state):
        """Returns the same by `keras.layers.LSTM`, with reversed words for the second direction."""
        if mask is None:
            back = ops.flip(ops.arange(sizes(x)[1]))[None, :, None]
        else:
            # cuDNN rejects a row of padding: its first position is treated as a word, and the
            # result is corrected below.
            position = ops.arange(sizes(x)[1])
            length = ops.sum(ops.cast(mask, position.dtype), axis=1, keepdims=True)
            back = ops.where(position < length, length - 1 - position, position)[:, :, None]
        readable = None
        if mask is not None and self.return_state:
            readable = ops.logical_or(mask, ops.equal(position, 0))
        result = []
        for number, direction in enumerate(self.directions):
            words = ops.take_along_axis(x, back, axis=1) if number else x
            hidden, *states = direction(words, mask=readable, initial_state=initial_state)
            if number:
                hidden = ops.take_along_axis(hidden, back, axis=1)
            if readable is not None:
                some = length > 0
                pairs = zip(states, initial_state, strict=True)
                states = [ops.where(some, state, first) for state, first in pairs]
            result.append((hidden, *states))
        return result

    def decode_step(self, x, states):
        """Reads the next word of a causal layer, without the loop over words.

        Args:
            x: `[..., d]`.
            states: hidden and cell state, each `[..., units]`.

        Returns:
            The output `[..., units]` and the new states.
        """
        rows = [flatten_leading(value, keep=1) for value in (x, *states)]
        _, states = self.directions[0].cell(rows[0], rows[1:])
        hidden, cell = (restore_leading(ops.cast(s, x.dtype), like=x) for s in states)
        return hidden, [hidden, cell]

    def compute_output_shape(self, x_shape):
        width = self.units * len(self.directions)
        outputs = (*x_shape[:-1], width)
        if not self.return_state:
            return outputs
        return outputs, (*x_shape[:-2], width), (*x_shape[:-2], width)


def _last(hidden, mask, initial):
    """Returns the state after the last real word of each row."""
    if mask is None:
        return hidden[:, -1]
    length = ops.sum(ops.cast(mask, "int32"), axis=1)
    last = ops.maximum(length - 1, 0)[:, None, None]
    state = ops.take_along_axis(hidden, last, axis=1)[:, 0]
    return ops.where(length[:, None] > 0, state, ops.cast(initial, state.dtype))
