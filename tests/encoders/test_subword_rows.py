"""Rows of real subwords against rows of all positions."""

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.encoders.subword_rows import AllSubwords, RealSubwords

MASK = np.array([[True] * 4, [True, False, True, False], [False, True, False, False]])
X = np.random.default_rng(0).normal(size=(3, 4, 6)).astype("float32")


def value_and_gradient(function, x, shares):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = function(x)
        total = tf.reduce_sum(result * shares)
    return result.numpy(), np.array(tape.gradient(total, x))


def test_rows_are_the_real_subwords_in_order_and_padding_has_no_gradient() -> None:
    subwords = RealSubwords(MASK, 2)
    shares = np.arange(42, dtype="float32").reshape(7, 6) + 1
    rows, gradient = value_and_gradient(subwords.to_rows, X, shares)
    np.testing.assert_array_equal(rows, X[MASK])
    np.testing.assert_array_equal(gradient[MASK], shares)
    assert not gradient[~MASK].any()


def test_windows_get_the_rows_back_and_their_padding_has_no_gradient() -> None:
    subwords = RealSubwords(MASK, 2)
    shares = np.random.default_rng(1).normal(size=X.shape).astype("float32")
    windows, gradient = value_and_gradient(subwords.to_windows, X[MASK], shares)
    np.testing.assert_array_equal(windows[MASK], X[MASK])
    assert np.isfinite(windows).all()
    np.testing.assert_array_equal(gradient, shares[MASK])


@pytest.mark.parametrize("num_heads", (1, 2, 3))
def test_heads_and_their_gradients_are_those_of_all_positions(num_heads) -> None:
    every, real = AllSubwords(MASK, num_heads), RealSubwords(MASK, num_heads)
    shares = np.random.default_rng(2).normal(size=(3, num_heads, 4, 6 // num_heads))
    shares = (shares * MASK[:, None, :, None]).astype("float32")
    expected = value_and_gradient(every.to_heads, X.reshape(12, 6), shares)
    heads, gradient = value_and_gradient(real.to_heads, X[MASK], shares)
    inside = np.broadcast_to(MASK[:, None], (3, num_heads, 4))
    np.testing.assert_array_equal(heads[inside], expected[0][inside])
    np.testing.assert_array_equal(gradient, expected[1].reshape(X.shape)[MASK])

    shares = np.random.default_rng(3).normal(size=X.shape).astype("float32")
    shares *= MASK[..., None]
    expected = value_and_gradient(every.from_heads, expected[0], shares.reshape(12, 6))
    rows, gradient = value_and_gradient(real.from_heads, heads, shares[MASK])
    np.testing.assert_array_equal(rows, expected[0].reshape(X.shape)[MASK])
    np.testing.assert_array_equal(gradient, expected[1])


def test_no_window() -> None:
    subwords = RealSubwords(np.zeros((0, 4), bool), 2)
    rows = subwords.to_rows(tf.zeros((0, 4, 6)))
    heads = subwords.to_heads(rows)
    assert (rows.shape, heads.shape) == ((0, 6), (0, 2, 4, 3))
    assert subwords.from_heads(heads).shape == (0, 6)
    assert subwords.to_windows(rows).shape == (0, 4, 6)
