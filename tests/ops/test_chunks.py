import numpy as np
import pytest
from keras import ops

from tfmrc.layers import AdditiveAttention
from tfmrc.ops.chunks import map_chunks


@pytest.mark.parametrize("length", [0, 1, 3, 4, 8, 9])
def test_parts_give_what_the_whole_gives(length):
    x = np.random.default_rng(0).normal(size=(2, length, 3)).astype("float32")
    widths = []

    def both(part):
        widths.append(part.shape[1])
        return ops.sum(part**2, axis=-1), part[..., :2] + 1

    squares, shifted = map_chunks(both, x, size=4)
    np.testing.assert_allclose(squares, (x**2).sum(-1), rtol=1e-6)
    np.testing.assert_allclose(shifted, x[..., :2] + 1)
    assert set(widths) == {4 if length > 4 else length}


def test_many_queries_read_like_few():
    generator = np.random.default_rng(1)
    query, memory = (generator.normal(size=(2, n, 5)).astype("float32") for n in (19, 7))
    mask = np.array([[True] * 7, [False] * 7])
    prior = np.log(generator.random((2, 7)).astype("float32"))
    layer = AdditiveAttention(stddev=1.0)
    parts = layer(query, memory, mask, prior)
    whole = layer(query, memory, mask, prior, training=True)
    for part, expected in zip(parts, whole, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-5, atol=1e-6)
    assert np.ptp(whole[1][0]) > 0.1  # the queries differ
