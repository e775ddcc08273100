import numpy as np
import pytest
import tensorflow as tf
from keras import Variable, ops

from tests.layers.agreement import same_gradients
from tfmrc.layers import AdditiveAttention
from tfmrc.ops.chunks import map_chunks, map_groups

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


def attention(v):
    """Additive attention in float64: masked log-weights and contexts; zeros without memory."""
    projected = v["memory"] @ v["w_memory"] + v["bias"]
    hidden = np.tanh((v["query"] @ v["w_query"])[:, :, None] + projected[:, None])
    scores = np.where(MASK[:, None], hidden @ v["score"] + PRIOR[:, None], -np.inf)
    largest = np.where(MASK.any(1), scores.max(axis=-1).max(axis=-1), 0.0)[:, None, None]
    weights = np.exp(scores - largest)
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
    return weights, weights @ v["memory"]


def test_many_queries_with_masks_and_gradients():
    generator = np.random.default_rng(1)
    query, memory = (Variable(generator.normal(size=(2, n, 5))) for n in (19, 7))
    layer = AdditiveAttention(initializer=1.0)
    layer(query, memory, MASK, PRIOR)
    layer.memory_projection.bias.assign(generator.normal(size=5))
    variables = {
        "query": query,
        "memory": memory,
        "w_memory": layer.memory_projection.kernel,
        "bias": layer.memory_projection.bias,
        "w_query": layer.query_projection.kernel,
        "score": layer.score,
    }
    values = {name: np.array(value, "float64") for name, value in variables.items()}
    weights, contexts = attention(values)
    log_weights, found = layer(query, memory, MASK, PRIOR)
    np.testing.assert_allclose(np.exp(log_weights), weights, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found, contexts, rtol=1e-4, atol=1e-5)
    assert not np.array(found)[1].any()  # all of its memory is padding
    factor = generator.normal(size=contexts.shape)
    same_gradients(
        lambda: ops.sum(layer(query, memory, MASK, PRIOR)[1] * factor.astype("float32")),
        variables,
        lambda moved: float((attention(moved)[1] * factor).sum()),
    )
