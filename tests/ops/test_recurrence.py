"""The LSTM over time against loops in float64: values and every gradient, in both directions."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers.agreement import arrays, close, same_gradients
from tests.reference.basic import sigmoid
from tfmrc.ops.recurrence import lstm, project_gates

LENGTH, BATCH, UNITS, WIDTH = 4, 2, 3, 5


def by_loop(v, reverse):
    """Hidden and cell states `[n, B, u]` from projected inputs."""
    hidden, cell = v["hidden"], v["cell"]
    hiddens, cells = np.zeros((2, LENGTH, BATCH, UNITS))
    for t in range(LENGTH)[:: -1 if reverse else 1]:
        z = v["projected"][t] + hidden @ v["kernel"]
        i, f, g, o = (z[:, n * UNITS : (n + 1) * UNITS] for n in range(4))
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(cell)
        hiddens[t], cells[t] = hidden, cell
    return hiddens, cells


def variables():
    shapes = {
        "projected": (LENGTH, BATCH, 4 * UNITS),
        "kernel": (UNITS, 4 * UNITS),
        "hidden": (BATCH, UNITS),
        "cell": (BATCH, UNITS),
    }
    return {name: Variable(array) for name, array in arrays(shapes).items()}


@pytest.mark.parametrize("options", [{}, {"reverse": True}])
def test_values_and_gradients(options):
    v = variables()
    tensors = [ops.convert_to_tensor(each) for each in v.values()]
    values = {name: ops.convert_to_numpy(each).astype(float) for name, each in v.items()}
    expected = by_loop(values, **{"reverse": False, **options})
    for got, right in zip(lstm(*tensors, **options), expected, strict=True):
        close(got, right)
    mixes = np.random.default_rng(3).normal(size=(2, LENGTH, BATCH, UNITS))

    def scalar():
        # Tensors: a custom gradient treats variables apart.
        parts = lstm(*(each + 0.0 for each in v.values()), **options)
        pairs = zip(parts, mixes.astype("float32"), strict=True)
        return sum(ops.sum(part * mix) for part, mix in pairs)

    def right(moved):
        parts = by_loop(moved, **{"reverse": False, **options})
        return float(sum((part * mix).sum() for part, mix in zip(parts, mixes, strict=True)))

    same_gradients(scalar, v, right)


def test_states_are_float32_in_half_precision():
    v = variables()
    half = [ops.cast(v[name], "bfloat16") for name in ("projected", "kernel")]
    hiddens, cells = lstm(*half, v["hidden"], v["cell"])
    values = {name: ops.convert_to_numpy(each).astype(float) for name, each in v.items()}
    expected = by_loop(values, False)
    for got, right in zip((hiddens, cells), expected, strict=True):
        assert got.dtype == "float32"
        np.testing.assert_allclose(got, right, atol=0.05)


def test_gates_are_a_product_and_padding_keeps_the_state():
    made = arrays({"x": (LENGTH, BATCH, WIDTH), "kernel": (WIDTH, 4 * UNITS), "bias": (4 * UNITS,)})
    v = {name: Variable(array) for name, array in made.items()}
    tensors = [ops.convert_to_tensor(each) for each in v.values()]
    x, kernel, bias = (array.astype(float) for array in made.values())
    close(project_gates(*tensors), x @ kernel + bias)
    mask = np.array([[1, 1], [1, 0], [0, 1], [1, 0]], bool)
    gates = np.array(project_gates(*tensors, mask))
    close(gates[mask], (x @ kernel + bias)[mask])
    closed = np.repeat([-1e4, 1e4, 0.0, 0.0], UNITS)
    close(gates[~mask], np.broadcast_to(bias + closed, gates[~mask].shape))

    infinite = np.where(mask[..., None], x, np.inf).astype("float32")
    np.testing.assert_array_equal(project_gates(infinite, *tensors[1:], mask), gates)
    _, recurrent, hidden, cell = variables().values()
    cells = np.array(lstm(ops.convert_to_tensor(gates), recurrent, hidden, cell)[1])
    np.testing.assert_array_equal(cells[2, 0], cells[1, 0])
    np.testing.assert_array_equal(cells[3, 1], cells[2, 1])
    assert (cells[1, 0] != cells[0, 0]).all()

    mix = np.random.default_rng(1).normal(size=gates.shape) * mask[..., None]

    same_gradients(
        lambda: ops.sum(project_gates(*v.values(), mask) * mix.astype("float32")),
        v,
        lambda moved: float(((moved["x"] @ moved["kernel"] + moved["bias"]) * mix).sum()),
    )
