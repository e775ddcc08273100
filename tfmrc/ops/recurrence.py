"""LSTM over time with a custom backward pass.

Automatic differentiation of a loop accumulates the gradient of the recurrent weights at every time
step, which for wide layers moves more memory than the rest of the step. Here the backward loop
computes only the gradients of the gates. One matrix product over all steps then gives the
gradient of the weights.
"""

from keras import ops, tree

from tfmrc.ops.gradients import custom_gradient
from tfmrc.ops.shapes import product

# Added to a gate, closes (or opens) it in every precision: sigmoid(+-1e4) is exactly 0 (or 1).
GATE_BIAS = 1e4


def project_gates(x, kernel, bias, padding_mask=None):
    """Projects the inputs of an LSTM to its gates, for all positions in one product.

    Bias and padding are additional columns of the inputs and rows of the kernel, because a separate
    pass over the gates for each is as expensive as many steps. At padding the input gate is closed
    and the forget gate open, so the state is unchanged.

    Args:
        x: `[n, B, d]`, time first.
        kernel: `[d, 4u]`, in the gate order of Keras: input, forget, candidate, output.
        bias: `[4u]`.
        padding_mask: boolean `[n, B]`, True = real; None for all real. Default: None.

    Returns:
        `[n, B, 4u]`, before activation.
    """
    columns, rows = [x, ops.ones_like(x[..., :1])], [kernel, bias[None]]
    if padding_mask is not None:
        real = ops.expand_dims(padding_mask, axis=-1)
        columns[0] = ops.where(real, x, 0.0)
        columns.append(ops.cast(ops.logical_not(real), x.dtype))
        closed = ops.full_like(bias[None, : bias.shape[0] // 4], GATE_BIAS)
        empty = ops.zeros_like(closed)
        rows.append(ops.concatenate([-closed, closed, empty, empty], axis=-1))
    return product(ops.concatenate(columns, axis=-1), ops.concatenate(rows, axis=0))


def lstm(projected, recurrent_kernel, hidden, cell, reverse=False):
    """Runs an LSTM over time on projected inputs.

    `i, f, o = sigmoid(.)`, `g = tanh(.)` of `projected_t + h_{t-1} U`, ordered `i, f, g, o`;
    `c_t = f c_{t-1} + i g`, `h_t = o tanh(c_t)`. The states are float32 in every precision.

    Args:
        projected: `[n, B, 4u]`, time first: `x_t W + b`.
        recurrent_kernel: `[u, 4u]`.
        hidden: `[B, u]`, the hidden state before the first step.
        cell: `[B, u]`, the cell state before the first step.
        reverse: bool. Whether time runs from the last position to the first. Default: False.

    Returns:
        All `h` and all `c`, each float32 `[n, B, u]`.
    """
    dtype = projected.dtype
    units = recurrent_kernel.shape[0]

    @custom_gradient
    def run(projected, kernel, hidden, cell):
        def step(carry, x):
            hidden, cell = carry[0], carry[1]
            z = ops.cast(x + ops.matmul(ops.cast(hidden, dtype), kernel), "float32")
            # The sigmoid of the candidate is unused: one sigmoid is cheaper than three.
            i, f, _, o = ops.split(ops.sigmoid(z), 4, axis=-1)
            g = ops.tanh(z[:, 2 * units : 3 * units])
            cell = f * cell + i * g
            carry = (o * ops.tanh(cell), cell, ops.concatenate([i, f, g, o], axis=-1))
            return carry, carry

        empty = ops.zeros_like(cell)
        no_gates = ops.concatenate([empty] * 4, axis=-1)
        start = (hidden, cell, no_gates)
        _, (hiddens, cells, gates) = ops.scan(step, start, projected, reverse=reverse)

        def gradient(*upstream, **_):
            # TensorFlow passes two gradients, JAX one pair.
            d_hiddens, d_cells = tree.flatten(upstream)
            # Concatenated, because Keras' scan over several tensors requires a static length.
            needed = ops.concatenate(
                [gates, cells, _past(cells, cell, reverse), d_hiddens, d_cells], axis=-1
            )
            transposed = ops.transpose(kernel)

            def back(carry, x):
                d_z, d_cell = carry
                i, f, g, o, cell, past_cell, d_hidden, d_more = ops.split(x, 8, axis=-1)
                product = ops.matmul(ops.cast(d_z, dtype), transposed)
                d_hidden = d_hidden + ops.cast(product, "float32")
                squashed = ops.tanh(cell)
                d_cell = d_cell + d_more + d_hidden * o * (1 - squashed**2)
                d_z = [
                    d_cell * g * i * (1 - i),
                    d_cell * past_cell * f * (1 - f),
                    d_cell * i * (1 - g**2),
                    d_hidden * squashed * o * (1 - o),
                ]
                carry = (ops.concatenate(d_z, axis=-1), d_cell * f)
                return carry, carry

            start = (no_gates, empty)
            (d_first, d_cell), (d_projected, _) = ops.scan(back, start, needed, reverse=not reverse)
            d_hidden = ops.cast(ops.matmul(ops.cast(d_first, dtype), transposed), "float32")
            d_projected = ops.cast(d_projected, dtype)
            past = ops.cast(_past(hiddens, hidden, reverse), dtype)
            d_kernel = ops.tensordot(past, d_projected, axes=[[0, 1], [0, 1]])
            return d_projected, d_kernel, d_hidden, d_cell

        return (hiddens, cells), gradient

    # Variables are passed as tensors: the custom gradient covers only the arguments.
    kernel = ops.cast(recurrent_kernel, dtype)
    return run(projected, kernel, ops.cast(hidden, "float32"), ops.cast(cell, "float32"))


def _past(states, first, reverse):
    """Returns the state before each step."""
    first = ops.expand_dims(first, axis=0)
    if reverse:
        return ops.concatenate([states[1:], first], axis=0)
    return ops.concatenate([first, states[:-1]], axis=0)
