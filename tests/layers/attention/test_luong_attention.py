"""Luong attention against loops in float64."""

import numpy as np
import pytest

from tests.layers.agreement import Compared, arrays, close
from tests.reference import question_generation as reference
from tfmrc.layers import LuongAttention
from tfmrc.testing import run_layer_test

INPUTS = arrays({"states": (3, 2, 4), "memory": (3, 5, 6)})
MASK = np.array([[True] * 5, [True, True, False, True, False], [False] * 5])


@pytest.fixture(scope="module")
def compared():
    return Compared(LuongAttention(units=3), INPUTS, memory_mask=MASK)


def expected(v):
    w_a, w_b = v["key/kernel"], v["output/kernel"].T
    rows = zip(v["states"], v["memory"], MASK, strict=True)
    return np.array([[reference.attended(d, u, m, w_a, w_b) for d in row] for row, u, m in rows])


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
def test_raw_scores(compared):
    layer, v = compared.layer, compared.values
    got = np.array(layer.scores(INPUTS["states"], layer.project(INPUTS["memory"])))
    for b, t in np.ndindex(3, 2):
        right = reference.raw_scores(v["states"][b, t], v["memory"][b], v["key/kernel"])
        close(got[b, t], right)


@pytest.mark.equation("qg-09", "qg-10", "qg-11", "qg-12")
def test_values_and_gradients(compared):
    compared.check(expected, positions=8)


def test_keys_made_once_give_the_same(compared):
    keys = compared.layer.project(INPUTS["memory"])
    close(compared.run(keys=keys), expected(compared.values))
