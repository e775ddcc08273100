"""Attention of long texts beside all weights at once: results, gradients, unknown sizes."""

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.ops import long_attention
from tfmrc.ops.long_attention import attend_by_parts, attend_near
from tfmrc.ops.masking import mask_bias

REACH, SCALE = 3, 0.5


def inputs(length):
    draw = np.random.default_rng(length)
    mask = np.arange(length) < np.array([[length], [max(length - 4, 1)], [0]])  # one all padding
    bias = np.array(mask_bias(mask), "float32")[:, None, None]
    return [draw.normal(size=(3, 2, length, 4)).astype("float32") for _ in range(3)], bias


def at_once(queries, keys, values, bias, reach):
    """The formula in one piece, in float64."""
    queries, keys, values, bias = (tf.cast(x, tf.float64) for x in (queries, keys, values, bias))
    places = np.arange(queries.shape[2])
    far = np.abs(places[:, None] - places) > (reach or len(places))
    scores = SCALE * tf.matmul(queries, keys, transpose_b=True) + bias
    return tf.matmul(tf.nn.softmax(tf.where(far, tf.cast(-np.inf, tf.float64), scores)), values)


def near(queries, keys, values, bias, training=False):
    return attend_near(queries, keys, values, bias, REACH, SCALE, training)


def by_parts(queries, keys, values, bias, training=False):
    return attend_by_parts(queries, keys, values, bias, SCALE, training)


@pytest.mark.parametrize(("function", "reach"), [(near, REACH), (by_parts, None)])
@pytest.mark.parametrize("length", [1, 9, 10, 23])
def test_results(function, reach, length, monkeypatch):
    monkeypatch.setattr(long_attention, "MOST_WEIGHTS", 200)
    tensors, bias = inputs(length)
    expected = at_once(*tensors, bias, reach)
    real = bias[:, :, 0, :, None] == 0
    signature = [tf.TensorSpec([None, 2, None, 4])] * 3 + [tf.TensorSpec([None, 1, 1, None])]
    of_unknown_sizes = tf.function(function, signature, autograph=False)
    for result in (function(*tensors, bias), of_unknown_sizes(*tensors, bias)):
        assert np.isfinite(result).all()
        np.testing.assert_allclose(
            np.where(real, result, 0), np.where(real, expected, 0), atol=1e-6
        )


@pytest.mark.parametrize(("function", "reach"), [(near, REACH), (by_parts, None)])
def test_gradients_of_training(function, reach, monkeypatch):
    monkeypatch.setattr(long_attention, "MOST_WEIGHTS", 200)
    tensors, bias = inputs(23)
    real = np.where(bias[:, :, 0, :, None] == 0, np.arange(4.0), 0.0)

    def gradients(attend):
        given = [tf.constant(tensor) for tensor in tensors]
        with tf.GradientTape() as tape:
            tape.watch(given)
            total = tf.reduce_sum(tf.cast(attend(*given), tf.float64) * real)
        return tape.gradient(total, given)

    signature = [tf.TensorSpec([None, 2, None, 4])] * 3
    trained = tf.function(lambda *x: function(*x, bias, training=True), signature, autograph=False)
    expected = gradients(lambda *x: at_once(*x, bias, reach))
    for result, right in zip(gradients(trained), expected, strict=True):
        np.testing.assert_allclose(result, right, atol=1e-5)
