"""A long short-term memory over time, with a backward pass of its own.

Automatic differentiation of a loop adds to the gradient of the recurrent weights at every time
step, which for wide layers moves more memory than the rest of the step. Here the loop backwards
only finds the gradients of the gates; those of the weights follow from all steps at once, in one
matrix product.
"""

from keras import ops, tree

# Added to a gate it is shut (or open) in every precision: sigmoid(+-1e4) is 0 (or 1) exactly.
SHUT = 1e4


def gates_first(weights):
    """Keras' order of an LSTM's weights, `i, f, g, o`, as `lstm` takes them: `i, f, o, g`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.recurrence import gates_first
        >>> print(np.array(gates_first(np.arange(8))))
        [0 1 2 3 6 7 4 5]
    """
    i, f, g, o = ops.split(weights, 4, axis=-1)
    return ops.concatenate([i, f, o, g], axis=-1)


def shut_gates(projected, padding_mask):
    """Gates that carry the state through padding: nothing is forgotten, nothing comes in.

    Args:
        projected: `[n, B, 4u]`: input, forget and output gate and candidate, before activation.
        padding_mask: boolean `[B, n]`, True = real.

    Returns:
        `[n, B, 4u]`.
    """
    real = ops.expand_dims(ops.transpose(padding_mask), axis=-1)
    units = projected.shape[-1] // 4
    place = ops.arange(4 * units) // units
    padding = ops.where(place == 0, -SHUT, ops.where(place == 1, SHUT, 0.0))
    return ops.where(real, projected, ops.cast(padding, projected.dtype))


def lstm(projected, recurrent_kernel, hidden, cell, reverse=False):
    """Runs an LSTM over time, from projected inputs.

    `i, f, o = sigmoid(.)`, `g = tanh(.)` of `projected_t + h_{t-1} U`, in this order;
    `c_t = f c_{t-1} + i g`, `h_t = o tanh(c_t)`. The states are float32 in every precision.

    Args:
        projected: `[n, B, 4u]`, time first: `x_t W + b`.
        recurrent_kernel: `[u, 4u]`.
        hidden: the state before the first step, `[B, u]`.
        cell: likewise, `[B, u]`.
        reverse: whether time runs from the last place to the first.

    Returns:
        All `h` and all `c`, each float32 `[n, B, u]`.
    """
    dtype = projected.dtype
    units = recurrent_kernel.shape[0]

    @ops.custom_gradient
    def run(projected, kernel, hidden, cell):
        def step(carry, x):
            hidden, cell = carry[0], carry[1]
            z = ops.cast(x + ops.matmul(ops.cast(hidden, dtype), kernel), "float32")
            gates = ops.sigmoid(z[:, : 3 * units])
            candidate = ops.tanh(z[:, 3 * units :])
            cell = gates[:, units : 2 * units] * cell + gates[:, :units] * candidate
            hidden = gates[:, 2 * units :] * ops.tanh(cell)
            carry = (hidden, cell, gates, candidate)
            return carry, carry

        empty = ops.zeros_like(cell)
        start = (hidden, cell, ops.concatenate([empty] * 3, axis=-1), empty)
        _, (hiddens, cells, gates, candidates) = ops.scan(step, start, projected, reverse=reverse)

        def gradient(*upstream, **_):
            # TensorFlow passes the two one by one, JAX as one pair.
            d_hiddens, d_cells = tree.flatten(upstream)
            i, f, o = (gates[..., k * units : (k + 1) * units] for k in range(3))
            past_cells = _past(cells, cell, reverse)
            squashed = ops.tanh(cells)
            # All that a step needs as one tensor: Keras' scan over several wants their length to be
            # known when the graph is built.
            needed = ops.concatenate(
                [
                    candidates * i * (1 - i),
                    past_cells * f * (1 - f),
                    i * (1 - candidates**2),
                    squashed * o * (1 - o),
                    o * (1 - squashed**2),
                    f,
                    d_hiddens,
                    d_cells,
                ],
                axis=-1,
            )
            transposed = ops.transpose(kernel)

            def back(carry, x):
                d_z, d_cell = carry
                to_i, to_f, to_g, to_o, through, f, d_hidden, d_more = (
                    x[:, k * units : (k + 1) * units] for k in range(8)
                )
                product = ops.matmul(ops.cast(d_z, dtype), transposed)
                d_hidden = d_hidden + ops.cast(product, "float32")
                d_cell = d_cell + d_more + d_hidden * through
                d_z = ops.concatenate(
                    [d_cell * to_i, d_cell * to_f, d_hidden * to_o, d_cell * to_g], axis=-1
                )
                carry = (d_z, d_cell * f)
                return carry, carry

            start = (ops.concatenate([empty] * 4, axis=-1), empty)
            (d_first, d_cell), (d_projected, _) = ops.scan(back, start, needed, reverse=not reverse)
            d_hidden = ops.cast(ops.matmul(ops.cast(d_first, dtype), transposed), "float32")
            d_projected = ops.cast(d_projected, dtype)
            past = ops.cast(_past(hiddens, hidden, reverse), dtype)
            d_kernel = ops.tensordot(past, d_projected, axes=[[0, 1], [0, 1]])
            return d_projected, ops.cast(d_kernel, kernel.dtype), d_hidden, d_cell

        return (hiddens, cells), gradient

    return run(projected, recurrent_kernel, ops.cast(hidden, "float32"), ops.cast(cell, "float32"))


def _past(states, first, reverse):
    """What each step began with."""
    first = ops.expand_dims(first, axis=0)
    if reverse:
        return ops.concatenate([states[1:], first], axis=0)
    return ops.concatenate([first, states[:-1]], axis=0)
