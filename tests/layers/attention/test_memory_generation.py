"""SAN's contextual encoding and working memory against word-by-word sums in float64."""

import numpy as np
import pytest

from tests.layers import weights
from tests.layers.agreement import Compared, arrays, close
from tests.reference import san as reference
from tfmrc.layers import MemoryGeneration, StackedBiLSTM
from tfmrc.testing import run_layer_test

# Example 1: no words at all. Example 2: a passage of one word.
PASSAGE_MASK = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]], bool)
QUESTION_MASK = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1]], bool)
MASKS = {"passage_mask": PASSAGE_MASK, "question_mask": QUESTION_MASK}
SHAPES = {"passage": (3, 4, 2), "question": (3, 3, 2)}


def memory(v):
    return np.stack(
        [
            reference.memory(
                v["passage"][b], v["question"][b], PASSAGE_MASK[b], QUESTION_MASK[b], v
            )
            for b in range(3)
        ]
    )


@pytest.mark.equation("san-05", "san-06", "san-07", "san-08")
def test_memory():
    compared = Compared(MemoryGeneration(units=3), arrays(SHAPES), scale=0.7, **MASKS)
    compared.check(memory, positions=6)


@pytest.mark.equation("san-07")
def test_a_word_never_aligns_to_itself():
    layer = MemoryGeneration(units=2)
    seen = []
    layer.self_dropout = lambda weights, training: seen.append(np.array(weights)) or weights
    layer(**arrays(SHAPES), **MASKS)
    for b in range(3):
        assert not np.diagonal(seen[0][b]).any()
        assert not seen[0][b][:, ~PASSAGE_MASK[b]].any()
    np.testing.assert_allclose(seen[0][0].sum(-1), 1.0, rtol=1e-6)
    assert not seen[0][2][0].any(), "one word has no other to align to"


def test_memory_layer():
    run_layer_test(
        MemoryGeneration,
        {"units": 2, "attention_dim": 3, "dropout": 0.2, "seed": 1},
        {**arrays(SHAPES), **MASKS},
        axes={
            "passage": "B N h",
            "question": "B M h",
            "passage_mask": "B N",
            "question_mask": "B M",
        },
        output_axes="B N u",
        padded=("N", "M"),
        expected_output_shape=(3, 4, 4),
        expected_num_trainable_weights=7,
    )


def stack(v, x, contextual):
    rows = []
    for b in range(3):
        y, parts = x[b], []
        for number in (1, 2):
            if contextual is not None:
                y = np.concatenate([y, contextual[b]], -1)
            lstm = weights.below(v, f"lstm_{number}")
            y = reference.maxout(reference.bidirectional(y, PASSAGE_MASK[b], lstm))
            parts.append(y)
        rows.append(np.concatenate(parts, -1))
    return np.stack(rows)


@pytest.mark.parametrize("with_contextual", [False, True])
def test_stack(with_contextual):
    layer = StackedBiLSTM(units=2, num_layers=2)
    result = arrays({"x": (3, 4, 3), "contextual": (3, 4, 2)})
    contextual = result["contextual"] if with_contextual else None
    layer(result["x"], padding_mask=PASSAGE_MASK, contextual=contextual)
    weights.randomise(layer)
    got = layer(result["x"], padding_mask=PASSAGE_MASK, contextual=contextual)
    close(got, stack(weights.values(layer), result["x"], contextual))


def test_stack_layer():
    run_layer_test(
        StackedBiLSTM,
        {"units": 2, "num_layers": 2, "dropout": 0.2, "seed": 1},
        {**arrays({"x": (3, 4, 3)}), "padding_mask": PASSAGE_MASK},
        axes={"x": "B N d", "padding_mask": "B N"},
        output_axes="B N u",
        padded=("N",),
        expected_output_shape=(3, 4, 4),
        expected_num_trainable_weights=12,
        precisions=(),  # those of `BidirectionalLSTM`
    )
