"""The decoder's LSTM with attention and input feeding, against loops in float64."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import question_generation as reference
from tfmrc.layers import InputFeedingDecoder
from tfmrc.testing import run_layer_test

B, T, M, U = 3, 4, 5, 3
INPUTS = arrays(
    {"words": (B, T, 2), "memory": (B, M, 6), **{f"state_{i}": (B, U) for i in range(4)}}
)
MASK = np.array([[True] * 5, [True, True, False, True, False], [False] * 5])


def state(x):
    return [x[f"state_{i}"] for i in range(4)]


def make(attention):
    layer = InputFeedingDecoder(units=U, num_layers=2, attention=attention)
    call(layer, INPUTS)
    weights.randomise(layer)
    return layer


@pytest.fixture(scope="module", params=[True, False], ids=["attention", "none"])
def built(request):
    return make(request.param)


def call(layer, x, **more):
    if not layer.has_attention:
        return layer(x["words"], state(x), **more)
    return layer(x["words"], state(x), x["memory"], MASK, **more)


def expected(layer, v, b):
    lowest = np.concatenate([v["word_kernel"], v["kernel_1"]])
    layers = [(lowest, v["bias_1"]), (v["kernel_2"], v["bias_2"])]
    start = [s[b] for s in state(v)]
    if not layer.has_attention:
        return reference.decode(v["words"][b], start, layers)
    attention = (v["attention/key/kernel"], v["attention/output/kernel"].T)
    return reference.decode(v["words"][b], start, layers, v["memory"][b], MASK[b], *attention)


def values(layer):
    return {**{n: a.astype(float) for n, a in INPUTS.items()}, **weights.values(layer)}


def test_layer():
    run_layer_test(
        InputFeedingDecoder,
        {"units": U, "num_layers": 2, "dropout": 0.0},
        {
            "words": INPUTS["words"],
            "state": state(INPUTS),
            "memory": INPUTS["memory"],
            "memory_mask": MASK,
        },
        axes={
            "words": "B T w",
            "state": ["B u"] * 4,
            "memory": "B M m",
            "memory_mask": "B M",
        },
        output_axes=["B T u", "B T u"],
        padded=("T", "M"),
        expected_num_trainable_weights=7,
    )


@pytest.mark.equation("qg-07", "qg-12")
def test_values(built):
    attended, plain = (np.array(x) for x in call(built, INPUTS))
    for b in range(B):
        right = expected(built, values(built), b)
        close(attended[b], right.attended)
        close(plain[b], right.plain)


def test_steps_of_several_beams_are_the_call(built):
    attended, plain = (np.array(x) for x in call(built, INPUTS))
    # Three beams: example b's own words in the middle one, other words beside them.
    words = np.stack([np.roll(INPUTS["words"], i, axis=0) for i in (1, 0, 2)], axis=2)
    beams = built.start([np.repeat(s[:, None], 3, axis=1) for s in state(INPUTS)])
    more = {}
    if built.has_attention:
        keys = built.project(INPUTS["memory"])
        more = {"memory": INPUTS["memory"], "memory_mask": MASK, "keys": keys}
    for t in range(T):
        beams = built.step(words[:, t], beams, **more)
        close(np.array(beams[0])[:, 1], attended[:, t])
        close(np.array(beams[-2])[:, 1], plain[:, t])


@pytest.mark.equation("qg-07", "qg-12")
def test_gradients(built):
    inputs = {name: Variable(a) for name, a in INPUTS.items()}
    if not built.has_attention:
        del inputs["memory"]
    mix = np.random.default_rng(1).normal(size=(2, B, T, U))

    def scalar():
        attended, plain = call(built, inputs)
        return ops.sum(attended * mix[0].astype("float32") + plain * mix[1].astype("float32"))

    def total(v):
        rows = (expected(built, v, b) for b in range(B))
        return float(
            sum(np.sum(r.attended * mix[0, b] + r.plain * mix[1, b]) for b, r in enumerate(rows))
        )

    same_gradients(scalar, {**inputs, **weights.named(built)}, total, places=6)


def test_later_words_change_nothing_before(built):
    later = {**INPUTS, "words": INPUTS["words"].copy()}
    later["words"][:, 2:] += 1.0
    before, after = (np.array(call(built, x)[0]) for x in (INPUTS, later))
    np.testing.assert_array_equal(before[:, :2], after[:, :2])
    assert (before[:, 2] != after[:, 2]).any()


def test_dropout_works_between_layers_and_anew_at_every_step():
    layer = InputFeedingDecoder(units=200, num_layers=2, dropout=0.5, attention=False)
    words = np.zeros((1, 40, 2), "float32")
    start = [np.zeros((1, 200), "float32")] * 4
    still = [np.array(x) for x in layer(words, start, training=False)]
    np.testing.assert_array_equal(still[0], layer(words, start)[0])
    # The upper layer hands on what the lower one gives: only h of the lower one, kept or not.
    upper, lower = layer.kernels[1], layer.biases[0]
    layer.kernels[0].assign(np.zeros(layer.kernels[0].shape))
    lower.assign(np.repeat([9.0, -9.0, 9.0, 9.0], 200))  # h = tanh(1) at every step
    into = np.zeros(upper.shape)
    into[:200, 400:600] = np.eye(200) * 9
    upper.assign(into)
    layer.biases[1].assign(np.repeat([9.0, -9.0, 0.0, 9.0], 200))
    dropped = np.array(layer(words, start, training=True)[0])[0] > 0.1
    assert 0.45 < dropped.mean() < 0.55
    assert (dropped[0] != dropped[1]).any() and (dropped[1] != dropped[2]).any()


def test_there_is_a_layer():
    with pytest.raises(ValueError, match="num_layers=0"):
        InputFeedingDecoder(units=3, num_layers=0)
