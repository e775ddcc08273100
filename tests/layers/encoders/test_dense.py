"""Products of rows against float64, with sizes that are known, partly known and not known."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.reference import basic
from tfmrc.layers import Dense
from tfmrc.ops.shapes import product, reshape_size
from tfmrc.testing import gradients

RNG = np.random.default_rng(0)
KERNEL, BIAS = RNG.normal(size=(4, 3)), RNG.normal(size=3)


def layer() -> Dense:
    dense = Dense(3)
    dense.build((None, 4))
    dense.set_weights([KERNEL, BIAS])
    return dense


@pytest.mark.parametrize("size", [(2, 4), (5, 2, 4), (2, 3, 5, 4), (0, 2, 4), (2, 0, 4)])
def test_values_of_any_number_of_leading_axes(size):
    x = RNG.normal(size=size)
    np.testing.assert_allclose(layer()(x), basic.linear(x, KERNEL, BIAS), atol=1e-6)
    np.testing.assert_allclose(product(x, KERNEL), basic.linear(x, KERNEL), atol=1e-6)


@pytest.mark.parametrize("known", [(5, None, 4), (None, 2, 4), (None, None, 4)])
@pytest.mark.parametrize("rows", [5, 0])
def test_sizes_that_the_graph_does_not_know(known, rows):
    x = RNG.normal(size=(5, 2, 4)).astype("float32")
    x = x[:, :rows] if known[0] == 5 else x[:rows]
    compute = tf.function(layer(), input_signature=[tf.TensorSpec(known)], autograph=False)
    np.testing.assert_allclose(
        compute(x), basic.linear(x.astype("float64"), KERNEL, BIAS), atol=1e-6
    )


def test_a_size_is_inferred_only_where_it_can_be():
    assert reshape_size(keras.KerasTensor((None, 2, 4))) == (-1, 2, 4)
    assert reshape_size(np.zeros((0, 2, 4))) == (0, 2, 4)
    compute = tf.function(lambda x: keras.ops.reshape(x, reshape_size(x)), autograph=False)
    assert compute(tf.zeros((0, 2))).shape == (0, 2)


def test_gradients_are_those_of_the_formula():
    x, weight = keras.Variable(RNG.normal(size=(5, 2, 4))), RNG.normal(size=(5, 2, 3))
    dense = layer()
    found = gradients(
        lambda: keras.ops.sum(keras.ops.cast(weight, "float32") * dense(x)), [x, *dense.weights]
    )
    expected = [
        weight @ KERNEL.T,
        np.einsum("abi,abj->ij", np.array(x, "float64"), weight),
        weight.sum((0, 1)),
    ]
    for one, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, right, atol=1e-5)


def test_like_keras_own_in_configuration_and_precision():
    copy = keras.layers.deserialize(keras.layers.serialize(Dense(3, activation="relu")))
    assert isinstance(copy, Dense) and copy.units == 3
    x = RNG.normal(size=(2, 3, 4))
    own, theirs = Dense(3, dtype="mixed_float16"), keras.layers.Dense(3, dtype="mixed_float16")
    for each in (own, theirs):
        each.build((None, 4))
        each.set_weights([KERNEL, BIAS])
    np.testing.assert_array_equal(own(x), theirs(x))
