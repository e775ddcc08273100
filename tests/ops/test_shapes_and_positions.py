import keras
import numpy as np
import pytest
import tensorflow as tf

from tfmrc.ops import ids
from tfmrc.ops.maxout import maxout
from tfmrc.ops.positions import sinusoid
from tfmrc.ops.shapes import (
    flatten_leading,
    heads_to_rows,
    join_passages,
    product,
    reshape_size,
    restore_leading,
    rows_to_heads,
    split_heads,
)


def test_flatten_and_restore_are_inverse():
    x = np.arange(120).reshape(2, 3, 4, 5)
    flat = flatten_leading(x, keep=2)
    np.testing.assert_array_equal(flat, x.reshape(6, 4, 5))
    np.testing.assert_array_equal(restore_leading(flat, like=x), x)


@pytest.mark.parametrize("known", [(2, None, 4), (None, 3, 4), (None, 3, None), (2, 3, None)])
@pytest.mark.parametrize("keep", [1, 2])
def test_sizes_that_a_graph_does_not_know(known, keep):
    x = np.arange(24, dtype="float32").reshape(2, 3, 4)
    flatten = tf.function(flatten_leading, autograph=False)
    flat = flatten.get_concrete_function(tf.TensorSpec(known), keep)
    np.testing.assert_array_equal(flat(tf.constant(x)), x.reshape(-1, *x.shape[3 - keep :]))


@pytest.mark.parametrize("known", [(2, None, 4), (None, 3, 4), (None, None, 4)])
def test_leading_sizes_that_a_graph_does_not_know(known):
    def there_and_back(x):
        return restore_leading(flatten_leading(x, keep=1), like=x)

    traced = tf.function(there_and_back, input_signature=[tf.TensorSpec(known)], autograph=False)
    x = np.arange(24, dtype="float32").reshape(2, 3, 4)
    np.testing.assert_array_equal(traced(x), x)
    if known[1] is None:
        assert traced(x[:, :0]).shape == (2, 0, 4)


def test_nothing_keeps_its_sizes():
    assert reshape_size(keras.KerasTensor((None, 0, 4))) == (None, 0, 4)
    assert reshape_size(keras.KerasTensor((None, 1, 4))) == (-1, 1, 4)
    for shape, keep, expected in (((2, 0, 4), 1, (0, 4)), ((0, 3, 4), 2, (0, 3, 4))):
        assert tuple(flatten_leading(np.zeros(shape), keep).shape) == expected


def test_heads_are_parts_of_the_features():
    x = np.random.default_rng(0).normal(size=(2, 3, 8)).astype("float32")
    expected = x.reshape(2, 3, 4, 2).transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(split_heads(x, 4), expected)
    np.testing.assert_array_equal(split_heads(x[0], 4), expected[0])
    columns = expected.transpose(0, 1, 3, 2)
    np.testing.assert_array_equal(split_heads(x, 4, columns=True), columns)
    np.testing.assert_array_equal(split_heads(x[0], 4, columns=True), columns[0])


@pytest.mark.parametrize("num_queries", [1, 2, 3])
def test_heads_of_rows_are_parts_of_their_features(num_queries):
    rows = np.random.default_rng(0).normal(size=(2 * num_queries, 12)).astype("float32")
    heads = rows_to_heads(rows, num_queries, 4)
    expected = rows.reshape(2, num_queries, 4, 3).transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(heads, expected)
    np.testing.assert_array_equal(rows_to_heads(rows, tf.constant(num_queries), 4), expected)
    np.testing.assert_array_equal(heads_to_rows(heads), rows)


def test_products_of_any_rank():
    random = np.random.default_rng(0)
    kernel = random.normal(size=(4, 5)).astype("float32")
    for shape in ((4,), (3, 4), (2, 3, 4), (2, 1, 3, 4)):
        x = random.normal(size=shape).astype("float32")
        np.testing.assert_allclose(product(x, kernel), x @ kernel, rtol=1e-5)


def test_joined_passages_keep_their_order():
    x = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    np.testing.assert_array_equal(join_passages(x), x.reshape(2, 12))
    x = np.arange(2 * 5 * 3 * 4).reshape(2, 5, 3, 4)
    np.testing.assert_array_equal(join_passages(x), x.reshape(2, 15, 4))


def test_positions_are_sines_and_cosines():
    got = np.array(sinusoid(np.array([[0, 3], [1, 200]]), 6))
    assert got.shape == (2, 2, 6)
    for index, position in np.ndenumerate(np.array([[0, 3], [1, 200]])):
        for i in range(3):
            angle = position / 10000 ** (i / 3)
            np.testing.assert_allclose(got[index][i], np.sin(angle), atol=2e-5)
            np.testing.assert_allclose(got[index][3 + i], np.cos(angle), atol=2e-5)


def test_special_ids_come_first():
    assert (ids.PAD, ids.UNK, ids.BOS, ids.EOS, ids.NUM_SPECIAL) == (0, 1, 2, 3, 4)


def test_maxout_takes_the_largest_of_neighbours():
    x = np.random.default_rng(0).normal(size=(2, 3, 6)).astype("float32")
    np.testing.assert_array_equal(maxout(x), x.reshape(2, 3, 3, 2).max(-1))
    np.testing.assert_array_equal(maxout(x, 3), x.reshape(2, 3, 2, 3).max(-1))
