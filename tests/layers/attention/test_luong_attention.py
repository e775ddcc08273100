"""Luong attention against loops in float64."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import question_generation as reference
from tfmrc.layers import LuongAttention
from tfmrc.testing import run_layer_test

INPUTS = arrays({"states": (3, 2, 4), "memory": (3, 5, 6)})
MASK = np.array([[True] * 5, [True, True, False, True, False], [False] * 5])


@pytest.fixture(scope="module")
def built():
    layer = LuongAttention(units=3)
    layer(INPUTS["states"], INPUTS["memory"], MASK)
    weights.randomise(layer)
    return layer


def expected(v, states, memory):
    w_a, w_b = v["key/kernel"], v["output/kernel"].T
    return np.array(
        [
            [reference.attended(d, u, real, w_a, w_b) for d in row]
            for row, u, real in zip(states, memory, MASK, strict=True)
        ]
    )


def test_layer():
    run_layer_test(
        LuongAttention,
        {"units": 3},
        {**INPUTS, "memory_mask": MASK},
        axes={"states": "B T d", "memory": "B M m", "memory_mask": "B M"},
        output_axes="B T u",
        padded=("T", "M"),
        expected_output_shape=(3, 2, 3),
        expected_num_trainable_weights=2,
    )


@pytest.mark.equation("qg-09")
def test_raw_scores(built):
    got = np.array(built.scores(INPUTS["states"], built.project(INPUTS["memory"])))
    w_a = weights.values(built)["key/kernel"]
    for b, t in np.ndindex(3, 2):
        d, u = INPUTS["states"][b, t].astype(float), INPUTS["memory"][b].astype(float)
        close(got[b, t], reference.raw_scores(d, u, w_a))


@pytest.mark.equation("qg-10", "qg-11", "qg-12")
def test_values_with_keys_made_once_or_here(built):
    right = expected(weights.values(built), *(INPUTS[n].astype(float) for n in INPUTS))
    keys = built.project(INPUTS["memory"])
    for given in (None, keys):
        close(built(INPUTS["states"], INPUTS["memory"], MASK, keys=given), right)


@pytest.mark.equation("qg-09", "qg-10", "qg-11", "qg-12")
def test_gradients(built):
    inputs = {name: Variable(a) for name, a in INPUTS.items()}
    mix = np.random.default_rng(1).normal(size=(3, 2, 3))
    same_gradients(
        lambda: ops.sum(built(inputs["states"], inputs["memory"], MASK) * mix.astype("float32")),
        {**inputs, **weights.named(built)},
        lambda v: float(np.sum(expected(v, v["states"], v["memory"]) * mix)),
        positions=8,
    )
