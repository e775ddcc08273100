"""Self-attention with one projection against loops in float64."""

import numpy as np
import pytest

from tests.layers.agreement import Compared, arrays, close
from tests.reference import daanet as reference
from tfmrc.layers import TiedSelfAttention
from tfmrc.testing import run_layer_test

X = arrays({"x": (3, 5, 6)})["x"]
MASK = np.array([[True] * 5, [True, True, False, False, False], [False] * 5])
CAUSAL = pytest.mark.parametrize("causal", [False, True])


def expected(v, causal):
    r, rows = v["projection/kernel"], zip(v["x"], MASK, strict=True)
    return np.array([reference.self_attention(a, real, r, 2, causal) for a, real in rows])


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
def test_values_and_gradients(causal):
    compared = Compared(TiedSelfAttention(2, causal), {"x": X}, padding_mask=MASK)
    compared.check(lambda v: expected(v, causal))


def test_steps_equal_the_whole():
    layer = Compared(TiedSelfAttention(2, True), {"x": X}).layer
    whole = np.array(layer(X))
    cache = layer.init_cache(3, 1, 7)
    for t in range(5):
        y, cache = layer.decode_step(X[:, None, t], cache, t)
        close(y[:, 0], whole[:, t])
