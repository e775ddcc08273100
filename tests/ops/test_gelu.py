import math

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.ops.gelu import exact_gelu, recomputed_gelu

X = np.linspace(-9.0, 9.0, 241)


@pytest.mark.parametrize("function", [exact_gelu, recomputed_gelu])
def test_value_and_gradient(function):
    given = tf.constant(X, "float32")
    with tf.GradientTape() as tape:
        tape.watch(given)
        result = function(given)
    cumulative = np.array([0.5 * math.erfc(-x * 0.5**0.5) for x in X])
    density = np.exp(-0.5 * X * X) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(result, X * cumulative, atol=1e-6)
    np.testing.assert_allclose(tape.gradient(result, given), cumulative + X * density, atol=1e-6)


def test_the_gradient_is_weighted_by_that_of_the_result():
    given, shares = tf.constant(X, "float32"), np.linspace(0.1, 3.0, 241).astype("float32")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(given)
        mine = tf.reduce_sum(recomputed_gelu(given) * shares)
        theirs = tf.reduce_sum(exact_gelu(given) * shares)
    expected = tape.gradient(theirs, given)
    np.testing.assert_allclose(tape.gradient(mine, given), expected, atol=2e-6)
