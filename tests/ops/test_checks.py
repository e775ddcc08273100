import re

import keras
import numpy as np
import pytest
from keras import ops

from tfmrc.ops.checks import check_indices, check_shape


def test_shapes():
    check_shape("x", np.ones((2, 3)), None, 3, like="words")
    check_shape("x", keras.KerasTensor((None, 3)), 7, 3, like="words")
    for expected in ((2, 4), (3, 3), (2,), (2, 3, 1)):
        with pytest.raises(ValueError, match=r"`x` must have the shape of words, .*=\(2, 3\)"):
            check_shape("x", np.ones((2, 3)), *expected, like="words")


@pytest.mark.parametrize(
    ("values", "size", "low", "words"),
    [
        ([[0, 9]], 10, 0, None),
        ([[0, 10]], 10, 0, "x from 0 to 9. Received: 10"),
        ([[-1, 10]], 10, 0, "x from 0 to 9. Received: -1"),
        ([[-1, 9]], 10, -1, None),
        ([[-2, 99]], None, -1, "x from -1. Received: -2"),
        (np.zeros((2, 0), "int32"), 1, 0, None),
    ],
)
def test_indices(values, size, low, words):
    check_indices("ids", np.array([0]), 1, of="x")
    for convert in (np.array, ops.convert_to_tensor):
        if words is None:
            check_indices("ids", convert(values), size, low=low, of="x")
        else:
            with pytest.raises(ValueError, match=re.escape(f"`ids` must hold {words}")):
                check_indices("ids", convert(values), size, low=low, of="x")
