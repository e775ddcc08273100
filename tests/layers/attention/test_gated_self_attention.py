"""Gated self-attention against loops in float64."""

import numpy as np
import pytest

from tests.layers.agreement import Compared, arrays, close
from tests.reference import question_generation as reference
from tfmrc.layers import GatedSelfAttention
from tfmrc.layers.recording import recording
from tfmrc.testing import run_layer_test

X = arrays({"x": (3, 5, 4)})["x"]
MASK = np.array([[True] * 5, [True, True, False, True, False], [False] * 5])


@pytest.fixture(scope="module")
def compared():
    return Compared(GatedSelfAttention(), {"x": X}, padding_mask=MASK)


def expected(v):
    """The kernels of Keras are the transposes of the paper's matrices."""
    w_m, w_f, w_g = (v[f"{name}/kernel"].T for name in ("matching", "fusion", "gate"))
    rows = zip(v["x"], MASK, strict=True)
    return np.array([reference.gated(row, real, w_m, w_f, w_g) for row, real in rows])


def test_layer():
    run_layer_test(
        GatedSelfAttention,
        {"initializer": 0.5},
        {"x": X, "padding_mask": MASK},
        axes={"x": "B N d", "padding_mask": "B N"},
        output_axes="B N d",
        padded=("N",),
        expected_num_trainable_weights=3,
    )


@pytest.mark.equation("qg-02")
def test_attention(compared):
    matching = compared.values["matching/kernel"].T
    with recording() as found:
        compared.run()
    (got,) = map(np.array, found.values())
    for b, t in np.ndindex(MASK.shape):
        close(got[b, t], reference.self_attention(X[b].astype(float), MASK[b], t, matching))


@pytest.mark.equation("qg-02", "qg-03", "qg-04", "qg-05", "qg-06")
def test_values_and_gradients(compared):
    compared.check(expected, positions=8)
