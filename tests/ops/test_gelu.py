import math

import numpy as np
import tensorflow as tf

from tfmrc.ops.gelu import exact_gelu

X = np.linspace(-9.0, 9.0, 241)


def test_value_and_gradient():
    given = tf.constant(X, "float32")
    with tf.GradientTape() as tape:
        tape.watch(given)
        result = exact_gelu(given)
    cumulative = np.array([0.5 * math.erfc(-x * 0.5**0.5) for x in X])
    density = np.exp(-0.5 * X * X) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(result, X * cumulative, atol=1e-6)
    np.testing.assert_allclose(tape.gradient(result, given), cumulative + X * density, atol=1e-6)
