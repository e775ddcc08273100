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


def scores(v, decoded, b):
    """Raw scores of all steps `[T, M]`."""
    w_a = v["attention/key/kernel"]
    return np.array([reference.raw_scores(d, v["memory"][b], w_a) for d in decoded.plain])


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
        output_axes={"states": "B T u", "scores": "B T M"},
        padded=("T", "M"),
        expected_num_trainable_weights=7,
    )


@pytest.mark.equation("qg-07", "qg-09", "qg-12")
def test_values(built):
    outputs, v = call(built, INPUTS), values(built)
    assert set(outputs) == ({"states", "scores"} if built.has_attention else {"states"})
    for b in range(B):
        right = expected(built, v, b)
        close(outputs["states"][b], right.attended)
        if built.has_attention:
            close(outputs["scores"][b], scores(v, right, b))


def test_steps_of_several_beams_are_the_call(built):
    right = {name: np.array(x) for name, x in call(built, INPUTS).items()}
    # Three beams: example b's own words in the middle one, other words beside them.
    words = np.stack([np.roll(INPUTS["words"], i, axis=0) for i in (1, 0, 2)], axis=2)
    beams = built.init_cache([np.repeat(s[:, None], 3, axis=1) for s in state(INPUTS)])
    more = {}
    if built.has_attention:
        keys = built.project(INPUTS["memory"])
        more = {"memory": INPUTS["memory"], "memory_mask": MASK, "keys": keys}
    for t in range(T):
        outputs, beams = built.decode_step(words[:, t], beams, **more)
        for name, value in right.items():
            close(np.array(outputs[name])[:, 1], value[:, t])


@pytest.mark.equation("qg-07", "qg-12")
def test_gradients(built):
    inputs = {name: Variable(a) for name, a in INPUTS.items()}
    if not built.has_attention:
        del inputs["memory"]
    random = np.random.default_rng(1)
    mix = {"states": random.normal(size=(B, T, U)), "scores": random.normal(size=(B, T, M))}

    def scalar():
        outputs = call(built, inputs)
        return sum(ops.sum(x * mix[name].astype("float32")) for name, x in outputs.items())

    def total(v):
        result = 0.0
        for b in range(B):
            right = expected(built, v, b)
            result += np.sum(right.attended * mix["states"][b])
            if built.has_attention:
                result += np.sum(scores(v, right, b) * mix["scores"][b])
        return float(result)

    same_gradients(scalar, {**inputs, **weights.named(built)}, total, positions=6)
