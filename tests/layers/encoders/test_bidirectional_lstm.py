"""The bidirectional LSTM against loops in float64, with padding and an empty row."""

from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import Variable, ops

from tests.layers.agreement import Compared, arrays, close
from tests.reference.recurrent import lstm
from tfmrc.layers import BidirectionalLSTM
from tfmrc.ops import portable
from tfmrc.testing import run_layer_test

MASK = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
UNITS = 3


def built(**options):
    layer = BidirectionalLSTM(UNITS, return_state=True, **options)
    return Compared(layer, arrays({"x": (3, 4, 2)}), padding_mask=MASK)


def reference(v, causal=False, mask=MASK, state=None):
    """Outputs, hidden and cell states, row by row and word by word."""
    result = []
    for row, (x, real) in enumerate(zip(v["x"], mask, strict=True)):
        words = x[real]
        parts = []
        for name in ("forward", "backward")[: 2 - causal]:
            cell = [
                v[f"{name}/lstm_cell/{part}"] for part in ("kernel", "recurrent_kernel", "bias")
            ]
            first = (np.zeros(UNITS),) * 2 if state is None else (state[0][row], state[1][row])
            turned = words[::-1] if name == "backward" else words
            h, c = lstm(turned, *cell, *first)
            outputs = np.zeros((len(x), UNITS))
            outputs[real] = h[1:][::-1] if name == "backward" else h[1:]
            parts.append((outputs, h[-1], c[-1]))
        result.append([np.concatenate(part, -1) for part in zip(*parts, strict=True)])
    return [np.stack(part) for part in zip(*result, strict=True)]


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"return_state": True}])
def test_layer(options):
    single = not options.get("return_state")
    width = 3 if options.get("causal") else 6
    shapes = [(3, 4, width), (3, width), (3, width)]
    run_layer_test(
        BidirectionalLSTM,
        {"units": 3, "dropout": 0.2, "seed": 5, **options},
        {**arrays({"x": (3, 4, 4)}), "padding_mask": MASK},
        axes={"x": "B N d", "padding_mask": "B N"},
        output_axes="B N u" if single else ("B N u", "B u", "B u"),
        padded=("N",),
        expected_output_shape=shapes[0] if single else shapes,
        expected_num_trainable_weights=3 if options.get("causal") else 6,
    )


@pytest.mark.parametrize("causal", [False, True])
def test_values_and_gradients(causal):
    built(causal=causal).check(lambda v: reference(v, causal))


def test_initial_state_goes_in_and_gets_a_gradient():
    compared = built(causal=True)
    states = {k: Variable(a) for k, a in arrays({"h": (3, 3), "c": (3, 3)}, 4).items()}
    compared.variables |= states
    compared.values |= {k: ops.convert_to_numpy(v).astype(float) for k, v in states.items()}
    run = partial(compared.run, initial_state=tuple(states.values()))
    compared.check(lambda v: reference(v, True, state=(v["h"], v["c"])), run)


def test_step_by_step_from_the_state_is_the_whole():
    compared = built(causal=True)
    layer, x = compared.layer, ops.convert_to_numpy(compared.inputs["x"])
    whole, *last = layer(x)
    state = tuple(np.zeros((3, UNITS), "float32") for _ in range(2))
    for t in range(4):
        output, *state = layer(x[:, t : t + 1], initial_state=state)
        close(output[:, 0], whole[:, t])
    for got, expected in zip(state, last, strict=True):
        close(got, expected)


def test_same_weights_same_numbers_as_keras():
    compared = built()
    layer = compared.layer
    theirs = keras.layers.Bidirectional(keras.layers.LSTM(UNITS, return_sequences=True))
    theirs.build((None, None, 2))
    theirs.set_weights(layer.get_weights())
    x = ops.convert_to_tensor(compared.inputs["x"])
    close(layer(x)[0], np.array(theirs(x)))
    rows = [0, 2]  # Keras has no word for a row of padding alone
    masked = np.array(theirs(ops.take(x, rows, axis=0), mask=MASK[rows]))
    close(np.array(layer(x, padding_mask=MASK)[0])[rows][MASK[rows]], masked[MASK[rows]])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", [MASK, None])
def test_the_way_over_keras_gives_the_same_numbers(monkeypatch, causal, mask):
    compared = built(causal=causal)
    layer, x = compared.layer, ops.convert_to_tensor(compared.inputs["x"])
    by_loop = [np.array(part) for part in layer(x, padding_mask=mask)]
    calls = []
    by_keras = layer.by_keras
    monkeypatch.setattr(layer, "by_keras", lambda *a: calls.append(1) or by_keras(*a))
    monkeypatch.setattr(portable, "has_gpu", lambda: True)
    for got, expected in zip(layer(x, padding_mask=mask), by_loop, strict=True):
        close(got, expected)
    assert calls == [1]
    with portable.portable():
        layer(x, padding_mask=mask)
    assert calls == [1], "what is to run everywhere must not hold cuDNN"
    layer.use_cudnn = False
    layer(x, padding_mask=mask)
    assert calls == [1]


def test_leading_axes_are_rows():
    layer = built().layer
    x, mask = arrays({"x": (2, 3, 4, 2)})["x"], np.stack([MASK, MASK[::-1]])
    flat = layer(x.reshape(6, 4, 2), padding_mask=mask.reshape(6, 4))
    for got, expected in zip(layer(x, padding_mask=mask), flat, strict=True):
        np.testing.assert_allclose(np.array(got).reshape(expected.shape), expected, atol=1e-6)


def test_dropout_is_the_same_at_every_word_and_another_in_every_row():
    layer = BidirectionalLSTM(4, dropout=0.5, seed=3)
    x = layer.input_dropout(np.ones((5, 6, 40), "float32"), training=True)
    masks = np.array(x) > 0
    assert (masks == masks[:, :1]).all()
    assert len({tuple(mask[0]) for mask in masks}) == 5


def test_graphs_of_any_size_give_the_same_gradients():
    """As `fit` and exports trace them: batch and length are not known."""
    compared = built()
    layer, x = compared.layer, tf.constant(ops.convert_to_numpy(compared.inputs["x"]))
    weights_of = [v.value for v in layer.trainable_variables]

    def gradients_of(x, mask):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = sum(ops.sum(part**2) for part in layer(x, padding_mask=mask))
        return tape.gradient(total, [x, *weights_of])

    sizes = [tf.TensorSpec([None, None, 2]), tf.TensorSpec([None, None], tf.bool)]
    traced = tf.function(gradients_of, input_signature=sizes, autograph=False)
    for got, expected in zip(traced(x, MASK), gradients_of(x, MASK), strict=True):
        close(got, np.array(expected))


def test_weights_in_bfloat16():
    """TensorFlow decomposes no matrix of them, which the recurrent weights are made by."""
    layer = BidirectionalLSTM(4, dtype="bfloat16")
    y = layer(np.ones((2, 3, 5), "float32"), padding_mask=np.array([[1, 1, 1], [1, 0, 0]], bool))
    assert {keras.backend.standardize_dtype(w.dtype) for w in [*layer.weights, y]} == {"bfloat16"}
    assert np.isfinite(keras.ops.convert_to_numpy(ops.cast(y, "float32"))).all()
    recurrent = ops.cast(layer.directions[0].cell.recurrent_kernel, "float32")
    product = keras.ops.convert_to_numpy(recurrent @ ops.transpose(recurrent))
    np.testing.assert_allclose(product, np.eye(4), atol=0.03)
