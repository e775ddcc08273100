"""LSTM with projected hidden states and clipping, as in ELMo."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class ProjectedLSTM(Layer):
    """LSTM whose hidden state is a projection, with clipped cells and projections.

    `i, f, o = sigmoid(.)`, `g = tanh(.)` of `x_t W + h_{t-1} U + b`, ordered `i, f, g, o`;
    `c_t = clip(f c_{t-1} + i g, cell_clip)`; `h_t = clip((o tanh(c_t)) P, proj_clip)`. With
    `residual` the output is `h_t + x_t`; the state stays `h_t`. The inputs of all words are
    projected in one matrix product. States and gates are float32 in every precision.

    Padding: the state does not change, so the backward direction begins at each row's last real
    word; outputs at padding are zeros.

    Args:
        units: int. Width of the cell u.
        projection_dim: int. Width of the hidden state p; None for `units` without a projection.
            Default: None.
        cell_clip: float. Largest magnitude of a cell; None for no limit. Default: None.
        proj_clip: float. Largest magnitude of a projected state; None for no limit. Default: None.
        residual: bool. Whether to add the input, of width p, to the output. Default: False.
        reverse: bool. Whether time runs from the last word to the first. Default: False.
        weights_trainable: bool. Whether to train the weights. Default: True.

    Call arguments:
        x: `[B, n, d]`.
        padding_mask: boolean `[B, n]`, True = real; None for all real.
        initial_state: `(cell [B, u], hidden [B, p])`; zeros by default.

    Returns:
        Outputs `[B, n, p]`, and the state `(cell, hidden)` after the last step, float32.

    Example:
        >>> import numpy as np
        >>> from tfmrc.encoders.elmo.projected_lstm import ProjectedLSTM
        >>> layer = ProjectedLSTM(units=5, projection_dim=2, cell_clip=3.0)
        >>> outputs, (cell, hidden) = layer(np.ones((1, 3, 4), "float32"))
        >>> tuple(outputs.shape), tuple(cell.shape), tuple(hidden.shape)
        ((1, 3, 2), (1, 5), (1, 2))

    Reference: Sak et al. 2014; Peters et al. 2018 (ELMo), section 3.4.
    """

    def __init__(
        self,
        units,
        projection_dim=None,
        cell_clip=None,
        proj_clip=None,
        residual=False,
        reverse=False,
        weights_trainable=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.projection_dim = projection_dim
        self.cell_clip = cell_clip
        self.proj_clip = proj_clip
        self.residual = residual
        self.reverse = reverse
        self.weights_trainable = weights_trainable
        self.output_dim = projection_dim or units
        # As `InputFeedingDecoder`: XLA has no gradient of this loop on TensorFlow.
        self.supports_jit = not weights_trainable or keras.backend.backend() != "tensorflow"

    def build(self, x_shape):
        dim = x_shape[-1]

        def add(name, shape, initializer):
            return self.add_weight(
                shape, initializer=initializer, trainable=self.weights_trainable, name=name
            )

        self.kernel = add("kernel", (dim, 4 * self.units), "glorot_uniform")
        self.recurrent_kernel = add(
            "recurrent_kernel", (self.output_dim, 4 * self.units), "glorot_uniform"
        )
        self.bias = add("bias", (4 * self.units,), "zeros")
        self.projection = None
        if self.projection_dim is not None:
            self.projection = add("projection", (self.units, self.projection_dim), "glorot_uniform")

    def call(self, x, padding_mask=None, initial_state=None):
        if initial_state is None:
            initial_state = self.zero_state(sizes(x)[0])
        gates = ops.transpose(self._project(x), (1, 0, 2))  # [n, B, 4 u]
        recurrent_kernel, projection = self._recurrent_weights()
        # Concatenated, because Keras' scan over several tensors requires a static length.
        if padding_mask is not None:
            real = ops.cast(ops.transpose(padding_mask)[..., None], gates.dtype)  # [n, B, 1]
            gates = ops.concatenate([gates, real], axis=-1)  # [n, B, 4 u + 1]

        def step(state, gates):
            new = self._advance(gates[:, : 4 * self.units], state, recurrent_kernel, projection)
            if padding_mask is not None:
                real = gates[:, 4 * self.units :] > 0
                new = tuple(ops.where(real, a, b) for a, b in zip(new, state, strict=True))
            return new, new  # Keras' scan requires outputs in the structure of the state

        state = tuple(ops.cast(part, "float32") for part in initial_state)
        state, (_, outputs) = ops.scan(step, state, gates, reverse=self.reverse)
        outputs = ops.cast(ops.transpose(outputs, (1, 0, 2)), x.dtype)  # [B, n, p]
        outputs = outputs + x if self.residual else outputs
        if padding_mask is not None:
            outputs = ops.where(padding_mask[..., None], outputs, 0.0)
        return outputs, state

    def decode_step(self, x, state):
        """Computes one step, from `x` `[..., d]` and a state to `[..., p]` and the next state."""
        state = self._advance(self._project(x), state, *self._recurrent_weights())
        output = ops.cast(state[1], x.dtype)
        return (output + x if self.residual else output), state

    def zero_state(self, *leading):
        """Returns zeros `(cell [*leading, u], hidden [*leading, p])`, float32."""
        return (
            ops.zeros((*leading, self.units), "float32"),
            ops.zeros((*leading, self.output_dim), "float32"),
        )

    def _project(self, x):
        gates = ops.matmul(x, ops.cast(self.kernel, x.dtype))
        return ops.cast(gates, "float32") + ops.cast(self.bias, "float32")

    def _recurrent_weights(self):
        dtype = self.compute_dtype
        projection = None if self.projection is None else ops.cast(self.projection, dtype)
        return ops.cast(self.recurrent_kernel, dtype), projection

    def _advance(self, gates, state, recurrent_kernel, projection):
        cell, hidden = state
        product = ops.matmul(ops.cast(hidden, recurrent_kernel.dtype), recurrent_kernel)
        i, f, g, o = ops.split(gates + ops.cast(product, "float32"), 4, axis=-1)
        cell = ops.sigmoid(f) * cell + ops.sigmoid(i) * ops.tanh(g)
        cell = _clip(cell, self.cell_clip)
        hidden = ops.sigmoid(o) * ops.tanh(cell)
        if projection is not None:
            hidden = ops.matmul(ops.cast(hidden, projection.dtype), projection)
            hidden = _clip(ops.cast(hidden, "float32"), self.proj_clip)
        return cell, hidden

    def compute_output_shape(self, x_shape):
        batch, length = x_shape[:2]
        outputs = (batch, length, self.output_dim)
        return outputs, ((batch, self.units), (batch, self.output_dim))


def _clip(x, limit):
    return x if limit is None else ops.clip(x, -limit, limit)
