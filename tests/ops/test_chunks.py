import numpy as np
import pytest
from keras import Variable, ops

from tests.layers.agreement import same_gradients
from tfmrc.layers import AdditiveAttention
from tfmrc.ops.chunks import map_chunks

MASK = np.array([[True] * 5 + [False] * 2, [False] * 7])
PRIOR = np.log(np.random.default_rng(0).random((2, 7))).astype("float32")


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
    layer = AdditiveAttention(stddev=1.0)
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
