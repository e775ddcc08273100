"""Multiplicative attention and both folds against loops in float64."""

import numpy as np
import pytest
from keras import ops

from tests.layers.agreement import Compared, arrays, close
from tests.reference import daanet as reference
from tfmrc.layers import MultiplicativeAttention
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import run_layer_test

INPUTS = arrays({"x": (3, 2, 4), "y": (3, 5, 6)})
MASK = np.array([[True] * 5, [True, True, False, True, False], [False] * 5])


@pytest.fixture(scope="module")
def compared():
    return Compared(MultiplicativeAttention(3), INPUTS, y_mask=MASK)


def run(compared, **more):
    log_weights, total = compared.run(**more)
    return ops.exp(log_weights), total


def expected(v):
    u, k = v["query/kernel"], v["key/kernel"]
    rows = zip(v["x"], v["y"], MASK, strict=True)
    s = [reference.similarity(a, b, real, u, k) for a, b, real in rows]
    return np.array(s), np.array([w @ b for w, b in zip(s, v["y"], strict=True)])


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
def test_values_and_gradients(compared):
    compared.check(expected, lambda: run(compared), positions=8)


def test_keys_made_once_give_the_same(compared):
    projected = compared.layer.project(INPUTS["y"])
    for found, right in zip(run(compared, projected=projected), run(compared), strict=True):
        close(found, np.array(right))


def test_a_prior_weighs_the_positions():
    inputs = {**INPUTS, **arrays({"log_prior": (3, 5)})}
    compared = Compared(MultiplicativeAttention(3), inputs, y_mask=MASK)

    def weighed(v):
        weights = expected(v)[0] * np.exp(v["log_prior"])[:, None]  # [B, m, n]
        sums = weights.sum(axis=-1, keepdims=True)
        weights /= np.where(sums > 0, sums, 1.0)  # a row of padding has none
        return weights, weights @ v["y"]

    compared.check(weighed, lambda: run(compared), positions=8)


def test_padding_has_no_weight(compared):
    log_weights = np.array(compared.run()[0])
    assert (log_weights[~np.repeat(MASK[:, None], 2, axis=1)] == LOG_ZERO).all()
