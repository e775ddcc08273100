"""Sizes of tensors whose shapes are not known, with few operations."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfmrc.ops.sizes import sizes


def test_of_arrays_and_symbols():
    assert sizes(np.zeros((2, 0, 3))) == sizes(tf.zeros((2, 0, 3))) == (2, 0, 3)
    assert sizes(tf.constant(1.0)) == ()
    assert sizes(keras.KerasTensor((None, 3))) == (None, 3)


@pytest.mark.parametrize("known", [(None, None, 3), (None, 2, 3), (2, 4, None)])
def test_in_a_graph(known):
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec(known)], autograph=False)
    def compute(x):
        shapes.append(sizes(x))
        return tf.stack(shapes[-1]), keras.ops.reshape(x, (-1, *shapes[-1][1:]))

    shape, again = compute(np.arange(24.0, dtype="float32").reshape(2, 4, 3)[:, : known[1] or 4])
    assert shape.numpy().tolist() == list(again.shape) == [2, known[1] or 4, 3]
    assert [size for size in shapes[0] if isinstance(size, int)] == [n for n in known if n]


def test_the_size_of_an_outer_tensor_within_a_loop():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])], autograph=False)
    def compute(x):
        return keras.ops.while_loop(lambda n: n < 7, lambda n: (n + sizes(x)[0],), (0,))[0]

    assert int(compute(np.zeros((3, 2), "float32"))) == 9
