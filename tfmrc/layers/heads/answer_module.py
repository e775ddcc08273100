"""Answer modules of SAN: begin and end of an answer, predicted in several steps."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.encoders.bidirectional_lstm import Float32Orthogonal
from tfmrc.layers.recording import record
from tfmrc.layers.regularization.variational_dropout import VariationalDropout
from tfmrc.ops.masking import masked_log_softmax, masked_logsumexp, masked_softmax


@keras.saving.register_keras_serializable(package="tfmrc")
class AnswerModule(Layer):
    """Base class of the answer modules in SAN's Table 1.

    `s_0 = sum_j alpha_j H_q[j]`, `alpha = softmax(w_4 . H_q)`; for t = 1 ... T - 1
    `x_t = sum_j beta_j M_j`, `beta = softmax(s_{t-1} W_5 M)`, `s_t = GRU(s_{t-1}, x_t)`. From each
    of the T states `P_begin = softmax(s_t W_6 M)`, `P_end = softmax([s_t; P_begin M] W_7 M)`. A
    subclass combines the T predictions.

    Padding: padded words have the log-probability `LOG_ZERO`; a question without words gives an
    initial state of zeros; a passage without words has `LOG_ZERO` everywhere.

    Args:
        num_steps: int. Number of steps T. Default: 5.
        dropout: float. Variational dropout rate on the question and the memory. Default: 0.0.
        seed: int. Seed of the dropout. Default: None.

    Call arguments:
        question: `[B, m, h]`.
        memory: `[B, n, d]`.
        question_mask: boolean `[B, m]`, True = real.
        memory_mask: boolean `[B, n]`.
        num_steps: int. Number of steps of this call; None for that of the layer.
        return_steps: bool. Whether to also return the prediction of each step.
        training: bool. Whether to apply dropout.

    Returns:
        A dict, float32: `begin` and `end` `[B, n]`, log-probabilities. With `return_steps` also
        `step_begin` and `step_end` `[B, T, n]`, and `step_weights` `[B, T]`, the weight of each
        step in the result.
    """

    AXES = {"question": "B m h", "memory": "B n d", "question_mask": "B m", "memory_mask": "B n"}

    def __init__(self, num_steps=5, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.num_steps = num_steps
        self.seed = seed
        self.input_dropout = VariationalDropout(
            dropout, seed, dtype=self.dtype_policy, name="input_dropout"
        )

    def build(self, question_shape, memory_shape, *mask_shapes):
        width, memory_width = question_shape[-1], memory_shape[-1]
        self.summary = self.add_dense("summary", 1, width, use_bias=False)
        self.begin = self.add_dense("begin", memory_width, width, use_bias=False)
        self.end = self.add_dense("end", memory_width, width + memory_width, use_bias=False)
        if self.num_steps > 1:
            self.attention = self.add_dense("attention", memory_width, width, use_bias=False)
            self.cell = keras.layers.GRUCell(
                width, recurrent_initializer=Float32Orthogonal, dtype=self.dtype_policy, name="gru"
            )
            self.cell.build((None, memory_width))

    def call(
        self,
        question,
        memory,
        question_mask,
        memory_mask,
        num_steps=None,
        return_steps=False,
        training=None,
    ):
        count = self.num_steps if num_steps is None else num_steps
        if count > 1 and self.num_steps == 1:
            raise ValueError(
                "An answer module of one step has no weights for further steps. "
                f"Received: num_steps={count}"
            )
        # Cast, since a `DTypePolicyMap` may give the layers of the module policies of their own.
        question, memory = (
            ops.cast(self.input_dropout(x, training=training), self.compute_dtype)
            for x in (question, memory)
        )
        states = self.states(question, memory, question_mask, memory_mask, count)
        begin, end = zip(
            *(self.predict(state, memory, memory_mask) for state in states), strict=True
        )
        begin, end = ops.stack(begin, axis=1), ops.stack(end, axis=1)  # [B, T, n]
        weights = self.log_weights(ops.stack(states, axis=1), training)
        outputs = {
            name: masked_logsumexp(steps + share[..., None], axis=1)  # san-14, san-15
            for name, steps, share in zip(("begin", "end"), (begin, end), weights, strict=True)
        }
        if return_steps:
            weights = ops.exp(weights[0])
            outputs |= {"step_begin": begin, "step_end": end, "step_weights": weights}
        return outputs

    def states(self, question, memory, question_mask, memory_mask, count):
        """Returns the T states `[B, h]`."""
        scores = ops.cast(self.summary(question)[..., 0], question.dtype)
        alpha = masked_softmax(scores, question_mask)  # [B, m]
        state = ops.sum(alpha[..., None] * question, axis=1)  # [B, h], san-09
        states, betas = [state], []
        for _ in range(count - 1):
            beta = masked_softmax(_scores(self.attention(state), memory), memory_mask)
            betas.append(beta)
            x = _mixed(beta, memory)  # san-10
            state, _ = self.cell(x, [state])  # san-11
            state = ops.cast(state, question.dtype)
            states.append(state)
        if betas:
            record(self.name, ops.stack(betas, axis=1))  # [B, T - 1, n]
        return states

    def predict(self, state, memory, memory_mask):
        """Returns the log-probabilities `[B, n]` of begin and end from one state."""
        begin = masked_log_softmax(_scores(self.begin(state), memory), memory_mask)  # san-12
        begun = _mixed(ops.cast(ops.exp(begin), memory.dtype), memory)
        both = ops.concatenate([state, begun], axis=-1)  # [B, h + d]
        end = masked_log_softmax(_scores(self.end(both), memory), memory_mask)  # san-13
        return begin, end

    def log_weights(self, states, training):
        """Returns the log-weights of the steps for begin and end, float32 `[B, T]` each."""
        raise NotImplementedError(f"{type(self).__name__} must define `log_weights`.")


def _scores(vector, memory):
    """Computes `vector . memory[j]` for every j: `[B, d]` and `[B, n, d]` to `[B, n]`."""
    return ops.matmul(memory, ops.cast(vector, memory.dtype)[..., None])[..., 0]


def _mixed(weights, memory):
    """Computes `sum_j weights_j memory_j`: `[B, n]` and `[B, n, d]` to `[B, d]`."""
    return ops.matmul(weights[:, None], memory)[:, 0]
