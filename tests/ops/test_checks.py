import re

import keras
import numpy as np
import pytest
from keras import ops

from tfmrc.ops.checks import check_indices, check_rows, check_shape


@pytest.mark.parametrize("expected", [(2, 3), (None, 3), (2, None), (None, None)])
def test_shapes_that_fit(expected):
    check_shape("x", np.ones((2, 3)), *expected, like="the words")


@pytest.mark.parametrize("expected", [(2, 4), (3, 3), (None, 4), (2,), (2, 3, 1), ()])
def test_shapes_that_do_not_fit_are_named(expected):
    with pytest.raises(ValueError, match=r"`x` must have the shape of words, .*shape=\(2, 3\)"):
        check_shape("x", np.ones((2, 3)), *expected, like="words")


def test_sizes_that_are_not_known_are_not_checked():
    x = keras.KerasTensor((None, 3))
    check_shape("x", x, 7, 3, like="words")
    with pytest.raises(ValueError, match="Received: shape="):
        check_shape("x", x, 7, 4, like="words")


@pytest.mark.parametrize("convert", [np.array, ops.convert_to_tensor])
@pytest.mark.parametrize(
    ("values", "size", "low", "words"),
    [
        ([[0, 9]], 10, 0, None),
        ([[1, 8]], 10, 0, None),
        ([[3, 3]], 4, 3, None),
        ([[0, 11]], 10, 0, "x from 0 to 9. Received: 11"),
        ([[0, 10]], 10, 0, "x from 0 to 9. Received: 10"),
        ([[-1, 3]], 10, 0, "x from 0 to 9. Received: -1"),
        ([[-1, 10]], 10, 0, "x from 0 to 9. Received: -1"),
        ([[-1, 9]], 10, -1, None),
        ([[-2, 9]], 10, -1, "x from -1 to 9. Received: -2"),
        ([[-2, 99]], None, -1, "x from -1. Received: -2"),
        ([[0, 2**30]], None, 0, None),
        ([[2.0, 3.0]], 3, 0, "x from 0 to 2. Received: 3"),
        ([[0.0, 2.0]], 3, 0, None),
        (np.zeros((2, 0), "int32"), 1, 0, None),
        ([[True, False]], 1, 0, None),
    ],
)
def test_indices(convert, values, size, low, words):
    if words is None:
        check_indices("ids", convert(values), size, low=low, of="x")
        return
    with pytest.raises(ValueError, match="`ids` must hold " + words.replace(".", r"\.") + "$"):
        check_indices("ids", convert(values), size, low=low, of="x")


def test_zero_is_the_least_index_by_default():
    check_indices("ids", np.array([0]), 1, of="x")
    with pytest.raises(ValueError, match="from 0 to 0. Received: -1"):
        check_indices("ids", np.array([-1]), 1, of="x")


def test_indices_of_a_graph_are_not_checked():
    check_indices("ids", keras.KerasTensor((2,), "int32"), 1, of="x")


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"a": np.zeros((2, 9)), "b": np.zeros(2)}, None),
        ({"a": np.zeros((2, 9)), "b": [1, 2, 3]}, None),  # Keras converts and checks it
        ({"a": np.zeros(())}, None),
        ({}, None),
        ([np.zeros(2), np.zeros(3)], None),
        ({"a": np.zeros((2, 9)), "b": np.zeros(3)}, "a of shape (2, 9), b of shape (3,)"),
        ({"a": np.zeros((0, 0)), "b": np.zeros((0, 9))}, None),
        ({"a": np.zeros((2, 9)), "b": np.zeros(())}, "a of shape (2, 9), b of shape ()"),
    ],
)
def test_rows(inputs, words):
    if words is None:
        check_rows(inputs)
        return
    with pytest.raises(
        ValueError, match=f"each example of the batch. Received: {re.escape(words)}$"
    ):
        check_rows(inputs)


def test_rows_without_a_position():
    with pytest.raises(ValueError, match=r"at least one position; .*Received: b of shape \(2, 0\)"):
        check_rows({"a": np.zeros((2, 9)), "b": np.zeros((2, 0))})
