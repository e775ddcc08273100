"""Gated self-attention against loops in float64."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import question_generation as reference
from tfmrc.layers import GatedSelfAttention
from tfmrc.layers.recording import recording
from tfmrc.testing import run_layer_test

X = arrays({"x": (3, 5, 4)})["x"]
MASK = np.array([[True] * 5, [True, True, False, True, False], [False] * 5])


@pytest.fixture(scope="module")
def built():
    layer = GatedSelfAttention()
    layer(X, MASK)
    weights.randomise(layer)
    return layer


def expected(v, x):
    """The kernels of Keras are the transposes of the paper's matrices."""
    w_f, w_g = v["fusion/kernel"].T, v["gate/kernel"].T
    return np.array(
        [
            reference.gated(row, real, v["matching/kernel"].T, w_f, w_g)
            for row, real in zip(x, MASK, strict=True)
        ]
    )


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
def test_attention(built):
    matching = weights.values(built)["matching/kernel"].T
    with recording() as found:
        built(X, MASK)
    (got,) = map(np.array, found.values())
    for b, t in np.ndindex(MASK.shape):
        close(got[b, t], reference.self_attention(X[b].astype(float), MASK[b], t, matching))


@pytest.mark.equation("qg-03", "qg-04", "qg-05", "qg-06")
def test_values(built):
    close(built(X, MASK), expected(weights.values(built), X.astype(float)))


@pytest.mark.equation("qg-02", "qg-03", "qg-04", "qg-05", "qg-06")
def test_gradients(built):
    x = Variable(X)
    mix = np.random.default_rng(1).normal(size=X.shape)
    same_gradients(
        lambda: ops.sum(built(x, MASK) * mix.astype("float32")),
        {"x": x, **weights.named(built)},
        lambda v: float(np.sum(expected(v, v["x"]) * mix)),
        positions=8,
    )
