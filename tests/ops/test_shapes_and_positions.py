import numpy as np
import pytest

from tfmrc.ops import ids
from tfmrc.ops.positions import sinusoid
from tfmrc.ops.shapes import flatten_leading, join_passages, restore_leading


def test_flatten_and_restore_are_inverse():
    x = np.arange(120).reshape(2, 3, 4, 5)
    flat = flatten_leading(x, keep=2)
    np.testing.assert_array_equal(flat, x.reshape(6, 4, 5))
    np.testing.assert_array_equal(restore_leading(flat, like=x), x)


def test_joined_passages_keep_their_order():
    x = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    np.testing.assert_array_equal(join_passages(x), x.reshape(2, 12))


def test_positions_are_sines_and_cosines():
    got = np.array(sinusoid(np.array([[0, 3], [1, 200]]), 6))
    assert got.shape == (2, 2, 6)
    for index, position in np.ndenumerate(np.array([[0, 3], [1, 200]])):
        for i in range(3):
            angle = position / 10000 ** (i / 3)
            np.testing.assert_allclose(got[index][i], np.sin(angle), atol=2e-5)
            np.testing.assert_allclose(got[index][3 + i], np.cos(angle), atol=2e-5)


def test_odd_width_is_refused():
    with pytest.raises(ValueError, match="Received: dim=3"):
        sinusoid(np.array([0]), 3)


def test_special_ids_come_first():
    assert (ids.PAD, ids.UNK, ids.BOS, ids.EOS, ids.NUM_SPECIAL) == (0, 1, 2, 3, 4)
