"""Self-attention with one projection against loops in float64."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import daanet as reference
from tfmrc.layers import TiedSelfAttention
from tfmrc.testing import run_layer_test

X = arrays({"x": (3, 5, 6)})["x"]
MASK = np.array([[True] * 5, [True, True, False, False, False], [False] * 5])
CAUSAL = pytest.mark.parametrize("causal", [False, True])


def built(causal):
    layer = TiedSelfAttention(2, causal)
    layer(X, MASK)
    weights.randomise(layer)
    return layer


def expected(v, x, causal):
    r = v["projection/kernel"]
    rows = [
        reference.self_attention(a, real, r, 2, causal) for a, real in zip(x, MASK, strict=True)
    ]
    return np.array(rows)


@CAUSAL
def test_layer(causal):
    run_layer_test(
        TiedSelfAttention,
        {"num_heads": 2, "causal": causal},
        {"x": X, "padding_mask": MASK},
        axes={"x": "B n d", "padding_mask": "B n"},
        output_axes="B n d",
        padded=("n",),
        expected_output_shape=(3, 5, 6),
        expected_num_trainable_weights=1,
    )


@CAUSAL
@pytest.mark.equation("daanet-05")
def test_values(causal):
    layer = built(causal)
    close(layer(X, MASK), expected(weights.values(layer), X.astype(float), causal))


@CAUSAL
@pytest.mark.equation("daanet-05")
def test_gradients(causal):
    layer, x = built(causal), Variable(X)
    mix = np.random.default_rng(1).normal(size=X.shape)
    same_gradients(
        lambda: ops.sum(layer(x, MASK) * mix.astype("float32")),
        {"x": x, **weights.named(layer)},
        lambda v: float(np.sum(expected(v, v["x"], causal) * mix)),
    )


def test_steps_equal_the_whole():
    layer = built(True)
    whole = np.array(layer(X))
    cache = layer.init_cache(3, 1, 7)
    for t in range(5):
        y, cache = layer.decode_step(X[:, None, t], cache, t)
        close(y[:, 0], whole[:, t])
