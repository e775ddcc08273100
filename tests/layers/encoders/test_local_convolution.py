"""A word and its neighbours, against loops in float64."""

import numpy as np
import pytest

from tfmrc.layers import LocalConvolution


def reference(x, mask, kernel, bias, width):
    x = x.astype("float64")
    rows, length, dim = x.shape
    result = x + bias
    for row in range(rows):
        for position in range(length):
            for slot in range(width):
                other = position + slot - width // 2
                if 0 <= other < length and mask[row, other]:
                    weights = kernel[slot * dim : (slot + 1) * dim]
                    result[row, position] += x[row, other] @ weights
    return result


@pytest.mark.parametrize("width", [1, 3, 5])
def test_values_with_padding_and_an_empty_row(width):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 4, 2)).astype("float32")
    mask = np.array([[True] * 4, [True, True, False, False], [False] * 4])
    layer = LocalConvolution(width=width, initializer=0.5)
    got = np.array(layer(x, mask))
    kernel, bias = (weight.numpy().astype("float64") for weight in layer.weights)
    np.testing.assert_allclose(got, reference(x, mask, kernel, bias, width), atol=1e-5)
    # Padding does not matter: the second row alone, cut to its words, is the same.
    alone = np.array(layer(x[1:2, :2], mask[1:2, :2]))
    np.testing.assert_allclose(got[1:2, :2], alone, atol=1e-6)


def test_four_axes_are_rows_side_by_side():
    x = np.random.default_rng(1).normal(size=(2, 3, 4, 2)).astype("float32")
    mask = np.random.default_rng(2).random((2, 3, 4)) < 0.7
    layer = LocalConvolution(width=3)
    flat = layer(x.reshape(6, 4, 2), mask.reshape(6, 4))
    np.testing.assert_allclose(np.array(layer(x, mask)).reshape(6, 4, 2), flat, atol=1e-6)
