import itertools

import numpy as np
import pytest
import tensorflow as tf
from keras import Variable, ops

from tfmrc.layers import AdditiveAttention
from tfmrc.ops.chunks import map_chunks, map_groups
from tfmrc.testing import gradients

MASK = np.array([[True] * 5 + [False] * 2, [False] * 7])
PRIOR = np.log(np.random.default_rng(0).random((2, 7))).astype("float32")


@pytest.mark.parametrize("length", [0, 1, 4, 9])
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


@pytest.mark.parametrize("batch_size", [0, 6, 7])
@pytest.mark.parametrize("size", [0, 2, 100])
def test_groups_give_what_the_batch_gives(batch_size, size):
    generator = np.random.default_rng(0)
    x, y = (generator.normal(size=(batch_size, n)).astype("float32") for n in (3, 2))
    expected = np.concatenate([x, y**2], axis=1)
    seen = []

    def joined(x, y):
        seen.append(x.shape[0])
        return ops.concatenate([x, y**2], axis=1)

    np.testing.assert_allclose(map_groups(joined, size, x, y), expected, rtol=1e-6)
    largest = max(1, size)
    assert set(seen) == {max(n for n in (1, 2, 4, 8) if batch_size % n == 0 and n <= largest)} or (
        batch_size == 0 and seen == [0]
    )
    unknown = [tf.TensorSpec([None, None]), tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32)]
    graph = tf.function(lambda x, y, size: map_groups(joined, size, x, y), unknown)
    np.testing.assert_allclose(graph(x, y, size), expected, rtol=1e-6)


def test_an_empty_batch_and_an_empty_memory():
    layer = AdditiveAttention()
    layer.build((None, None, 5), (None, None, 5))
    signature = [tf.TensorSpec([None, None, 5])] * 2 + [tf.TensorSpec([None, None], tf.bool)]
    graph = tf.function(lambda *inputs: layer(*inputs), signature)
    for batch_size, length in ((0, 7), (3, 0), (0, 0)):
        query, memory = (np.ones((batch_size, n, 5), "float32") for n in (2, length))
        for attend in (layer, graph):
            weights, context = attend(query, memory, np.ones((batch_size, length), bool))
            assert tuple(weights.shape) == (batch_size, 2, length)
            np.testing.assert_array_equal(context, np.zeros((batch_size, 2, 5)))


def test_many_queries_give_what_few_give():
    """19 queries are computed in two parts, whose gradients are added."""
    generator = np.random.default_rng(1)
    query, memory = (Variable(generator.normal(size=(2, n, 5))) for n in (19, 7))
    factor = generator.normal(size=(2, 19, 5)).astype("float32")
    layer = AdditiveAttention(initializer=1.0)
    layer(query, memory, MASK, PRIOR)

    def contexts(*bounds):
        parts = itertools.pairwise(bounds)
        found = [layer(query[:, i:j], memory, MASK, PRIOR)[1] for i, j in parts]
        return ops.concatenate(found, axis=1)

    variables = [query, memory, *layer.trainable_variables]
    many, few = (
        [contexts(*b), *gradients(lambda b=b: ops.sum(contexts(*b) * factor), variables)]
        for b in ((0, 19), (0, 10, 19))
    )
    for one, other in zip(many, few, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
