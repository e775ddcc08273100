import keras
import numpy as np
import pytest
import tensorflow as tf

from tfmrc.ops import dropout
from tfmrc.ops.dropout import drop, keep_mask, random_int16


def seed(number=1):
    return keras.random.SeedGenerator(number)


@pytest.mark.parametrize("rate", [1e-4, 0.1, 0.5, 0.9, 1 - 1e-4, 1 - 1e-7])
def test_the_share_is_that_of_the_rate(rate):
    share = 1 - np.mean(keep_mask((1001, 999), rate, seed()))
    assert share == pytest.approx(rate, abs=5 * (rate * (1 - rate) / 1e6) ** 0.5 + 2**-15)


@pytest.mark.parametrize(
    ("rate", "dropped"),
    [(2.0**-16, 1), (0.25, 2**14), (0.5, 2**15), (0.9, 58_982), (1 - 1e-7, 2**16 - 1)],
)
def test_the_numbers_below_the_rate_are_dropped(monkeypatch, rate, dropped):
    numbers = np.arange(-(2**15), 2**15).astype("int16")  # each of 16 bits once
    monkeypatch.setattr(dropout, "random_int16", lambda count, seed: numbers)
    kept = np.array(keep_mask((2**16,), rate, None))
    np.testing.assert_array_equal(kept, np.arange(2**16) >= dropped)


def test_sizes_that_are_not_known():
    generator = seed()
    spec = tf.TensorSpec([None, None, 3])
    dropped = tf.function(lambda x: drop(x, 0.5, generator), [spec], autograph=False)
    values = dropped(np.ones((4, 5, 3), "float32")).numpy()
    assert values.shape == (4, 5, 3)
    assert set(np.unique(values)) == {0.0, 2.0}


def test_compiled_for_a_device():
    generator = seed()
    dropped = tf.function(lambda x: drop(x, 0.5, generator), autograph=False, jit_compile=True)
    values = dropped(np.ones((100, 7), "float32")).numpy()
    assert 0.4 < np.mean(values == 2.0) < 0.6


def test_neighbours_rows_and_columns_are_independent():
    """Two elements share a random number of 32 bits."""
    kept = np.array(keep_mask((1000, 1000), 0.5, seed()), "float64") - 0.5
    for other in (np.roll(kept, 1), np.roll(kept, 2), np.roll(kept, 1, axis=0), kept.T):
        assert abs(np.mean(kept * other)) < 5 * 0.25 / 1000


def test_all_16_bits_are_random():
    numbers = np.array(random_int16(200_001, seed()))
    assert numbers.dtype == "int16"
    assert numbers.shape == (200_001,)
    for bit in range(16):
        share = np.mean(numbers.view("uint16") >> bit & 1)
        assert share == pytest.approx(0.5, abs=5 * 0.5 / 200_001**0.5), bit


def test_the_same_state_gives_the_same_mask_and_another_one_does_not():
    first, again, other = (np.array(keep_mask((50, 50), 0.5, seed(n))) for n in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert 0.4 < np.mean(first == other) < 0.6
    generator = seed()
    one, two = (np.array(keep_mask((50, 50), 0.5, generator)) for _ in range(2))
    assert 0.4 < np.mean(one == two) < 0.6


def test_seeds_beyond_32_bits_as_those_of_replicas():
    generator = seed()
    generator.next = lambda: tf.constant([2**31 + 5, 7], "int64")
    assert 0.4 < np.mean(keep_mask((100, 100), 0.5, generator)) < 0.6


def test_what_is_dropped_is_zero_even_where_it_is_not_finite():
    values = np.array(drop(np.full((100,), np.inf, "float32"), 0.5, seed()))
    assert set(np.unique(values)) == {0.0, np.inf}


def test_the_gradient_is_that_of_what_was_kept():
    x = tf.random.normal([20, 10])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = drop(x, 0.25, seed())
    expected = np.where(y.numpy() == 0, 0.0, 1 / 0.75)
    np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-6)
