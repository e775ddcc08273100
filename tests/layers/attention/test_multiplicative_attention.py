"""Multiplicative attention and both folds against loops in float64."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import daanet as reference
from tfmrc.layers import MultiplicativeAttention
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import run_layer_test

INPUTS = arrays({"x": (3, 2, 4), "y": (3, 5, 6)})
MASK = np.array([[True] * 5, [True, True, False, True, False], [False] * 5])


@pytest.fixture(scope="module")
def built():
    layer = MultiplicativeAttention(3)
    layer(INPUTS["x"], INPUTS["y"], MASK)
    weights.randomise(layer)
    return layer


def expected(v, x, y):
    u, k = v["query/kernel"], v["key/kernel"]
    s = [reference.similarity(a, b, real, u, k) for a, b, real in zip(x, y, MASK, strict=True)]
    return np.array(s), np.array([w @ b for w, b in zip(s, y, strict=True)])


def test_layer():
    run_layer_test(
        MultiplicativeAttention,
        {"attention_dim": 3},
        {**INPUTS, "y_mask": MASK},
        axes={"x": "B m d", "y": "B n e", "y_mask": "B n"},
        output_axes=("B m n", "B m e"),
        padded=("m", "n"),
        expected_output_shape=((3, 2, 5), (3, 2, 6)),
        expected_num_trainable_weights=2,
    )


@pytest.mark.equation("daanet-06")
def test_values_with_keys_made_once_or_here(built):
    right = expected(weights.values(built), *(INPUTS[n].astype(float) for n in INPUTS))
    keys = built.project(INPUTS["y"])
    for projected in (None, keys):
        log_weights, total = built(INPUTS["x"], INPUTS["y"], MASK, projected=projected)
        close(np.exp(log_weights), right[0])
        close(total, right[1])
    assert (np.array(log_weights)[~np.repeat(MASK[:, None], 2, axis=1)] == LOG_ZERO).all()


@pytest.mark.equation("daanet-06")
def test_gradients(built):
    inputs = {name: Variable(a) for name, a in INPUTS.items()}
    mix = np.random.default_rng(1).normal(size=(3, 2, 6))
    same_gradients(
        lambda: ops.sum(built(inputs["x"], inputs["y"], MASK)[1] * mix.astype("float32")),
        {**inputs, **weights.named(built)},
        lambda v: float(np.sum(expected(v, v["x"], v["y"])[1] * mix)),
        positions=8,
    )
