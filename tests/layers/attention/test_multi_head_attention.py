from functools import partial

import numpy as np
import pytest

from tests.layers import weights
from tests.layers.agreement import Compared, arrays, close
from tests.reference import transformer
from tfmrc.layers import MultiHeadAttention
from tfmrc.testing import run_layer_test

# The third example has nothing to attend to.
MASK = np.array([[1, 1, 0, 1, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0]], bool)
SHAPES = {"query": (3, 2, 4), "memory": (3, 5, 6)}


def reference(v, mask):
    return np.stack(
        [
            transformer.multi_head_attention(
                query, memory, {n.replace("/", "_"): a for n, a in v.items() if "/" in n}, 2, seen
            )
            for query, memory, seen in zip(v["query"], v["memory"], mask, strict=True)
        ]
    )


@pytest.fixture(scope="module")
def compared():
    return Compared(MultiHeadAttention(2), arrays(SHAPES))


def test_layer():
    run_layer_test(
        MultiHeadAttention,
        {"num_heads": 2, "dropout": 0.2, "initializer": 0.5},
        {**arrays(SHAPES), "attention_mask": MASK},
        axes={"query": "B M d", "memory": "B N e", "attention_mask": "B N"},
        output_axes="B M d",
        padded=("M", "N"),
        expected_output_shape=(3, 2, 4),
        expected_num_trainable_weights=8,
        without_gradient=("key/bias",),
    )


def test_values_and_gradients_under_a_padding_mask(compared):
    mask = np.broadcast_to(MASK[:, None], (3, 2, 5))
    run = partial(compared.run, attention_mask=MASK)
    compared.check(lambda v: reference(v, mask), run)


def test_a_mask_of_its_own_for_every_query(compared):
    mask = np.random.default_rng(5).random((3, 2, 5)) < 0.5
    close(compared.run(attention_mask=mask), reference(compared.values, mask))
    close(compared.run(), reference(compared.values, np.ones_like(mask)))


def test_empty_row_gives_the_bias_of_the_output(compared):
    got = np.array(compared.run(attention_mask=MASK))[2]
    np.testing.assert_allclose(got, np.tile(compared.values["output/bias"], (2, 1)), atol=1e-6)


def test_further_leading_axes(compared):
    layer, x = compared.layer, arrays({"q": (2, 3, 2, 4), "m": (2, 3, 5, 6)})
    mask = np.random.default_rng(2).random((2, 3, 5)) < 0.6
    got = np.array(layer(x["q"], x["m"], attention_mask=mask))
    for b in range(2):
        close(got[b], np.array(layer(x["q"][b], x["m"][b], attention_mask=mask[b])))


def test_steps_with_a_cache_give_causal_attention():
    layer = MultiHeadAttention(2)
    x = arrays({"x": (3, 6, 4)})["x"]
    layer(x, x)
    weights.randomise(layer)
    causal = np.tril(np.ones((6, 6), bool))[None]
    whole = np.array(layer(x, x, attention_mask=causal))
    # Three sequences as one example's three beams, in a cache with room to spare.
    cache = layer.init_cache(1, 3, 9, 4)
    joined = layer.join_projections()
    for t in range(6):
        y, cache = layer.decode_step(x[:, t], cache, t, joined)
        close(y, whole[:, t])


@pytest.mark.parametrize("queries", [1, 2])
def test_a_projected_memory_gives_the_same(compared, queries):
    layer, query, memory = compared.layer, *(np.array(v) for v in compared.inputs.values())
    query = query[:, :queries]
    expected = np.array(layer(query, memory, attention_mask=MASK))
    memory[~MASK] = np.nan  # padding is not read, and the third example has nothing else
    rows = layer.attend(query.reshape(-1, 4), layer.project(memory, MASK), queries)
    close(rows, expected.reshape(-1, 4))
