import numpy as np
import pytest
import tensorflow as tf

from tfmrc.encoders import WordPooling


def example(draw, rows=3, length=14, words=6, dim=4):
    states = draw.normal(size=(rows, length, dim)).astype("float32")
    pieces = np.zeros((rows, words, 2), "int32")
    for row in range(rows):
        position = 1
        for word in range(words - row):
            count = int(draw.integers(0, 4))
            position += int(draw.integers(0, 2))
            if count and position + count <= length:
                pieces[row, word] = position, count
                position += count
    return states, pieces


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_against_plain_python(pooling) -> None:
    draw = np.random.default_rng(1)
    for _ in range(20):
        states, pieces = example(draw)
        expected = np.zeros((*pieces.shape[:2], states.shape[-1]))
        for row, word in np.ndindex(pieces.shape[:2]):
            first, count = pieces[row, word]
            if count:
                own = states[row, first : first + count].astype("float64")
                expected[row, word] = own[0] if pooling == "first" else own.mean(axis=0)
        result = np.array(WordPooling(pooling)(states, pieces))
        np.testing.assert_allclose(result, expected, atol=1e-6)


def test_large_values_elsewhere_do_not_cost_precision() -> None:
    states = np.full((1, 500, 1), 1e4, "float32")
    states[0, 498:] = [[1e-3], [3e-3]]
    result = WordPooling("mean")(states, np.array([[[1, 3], [498, 2]]]))
    np.testing.assert_allclose(np.array(result)[0, 1], [2e-3], rtol=1e-6)


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_gradients(pooling) -> None:
    states, pieces = example(np.random.default_rng(2))
    weights = np.random.default_rng(3).normal(size=(*pieces.shape[:2], 4)).astype("float32")
    expected = np.zeros(states.shape)
    for row, word in np.ndindex(pieces.shape[:2]):
        first, count = pieces[row, word]
        last = first + (min(count, 1) if pooling == "first" else count)
        expected[row, first:last] += weights[row, word] / max(last - first, 1)
    x = tf.constant(states)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(WordPooling(pooling)(x, tf.constant(pieces)) * weights)
    gradient = tf.convert_to_tensor(tape.gradient(total, x))
    np.testing.assert_allclose(gradient, expected, atol=1e-6)
