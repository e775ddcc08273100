"""The passage ranker and the classifier of answer possibility."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import heads as reference
from tests.reference.basic import sigmoid
from tfmrc.layers import AnswerPossibility, PassageRanker
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import run_layer_test

# The second example lacks its second passage, the third has none.
MASK = np.zeros((3, 2, 4), bool)
MASK[0, :, :3] = MASK[1, 0, :2] = True
PRESENT = MASK[:, :, 0]
SHAPES = {"passages": (3, 2, 4, 5)}


@pytest.mark.parametrize(
    ("kind", "shape", "axes"), [(PassageRanker, (3, 2), "B K"), (AnswerPossibility, (3,), "B")]
)
def test_layer(kind, shape, axes):
    run_layer_test(
        kind,
        {"initializer": 0.5},
        {**arrays(SHAPES), "passage_mask": MASK},
        axes={"passages": "B K L d", "passage_mask": "B K L"},
        output_axes=axes,
        padded=("L",),
        expected_output_shape=shape,
        expected_num_trainable_weights=1,
    )


def built(kind):
    layer, passages = kind(), Variable(arrays(SHAPES)["passages"])
    layer(passages, MASK)
    weights.randomise(layer)
    variables = {"passages": passages, **weights.named(layer)}
    values = {name: ops.convert_to_numpy(v).astype(float) for name, v in variables.items()}
    return layer, passages, variables, values


@pytest.mark.equation("masque-11")
def test_relevance():
    layer, passages, variables, values = built(PassageRanker)
    got = np.array(layer(passages, MASK))
    w = values["score/kernel"][:, 0]
    for b, k in np.ndindex(3, 2):
        if PRESENT[b, k]:
            close(sigmoid(got)[b, k], reference.relevance(values["passages"][b], w)[k])
        else:
            assert got[b, k] == np.float32(LOG_ZERO)
            assert sigmoid(got)[b, k] == 0.0
    mix = np.random.default_rng(1).normal(size=(3, 2)).astype("float32") * PRESENT
    same_gradients(
        lambda: ops.sum(ops.sigmoid(layer(passages, MASK)) * mix),
        variables,
        lambda v: float(
            sum(
                reference.relevance(v["passages"][b], v["score/kernel"][:, 0]) @ mix[b]
                for b in range(3)
            )
        ),
    )


@pytest.mark.equation("masque-12")
def test_answer_possibility():
    layer, passages, variables, values = built(AnswerPossibility)
    got = sigmoid(np.array(layer(passages, MASK)))

    def possibilities(v):
        w = v["score/kernel"][:, 0]
        return np.array([reference.possibility(v["passages"][b], PRESENT[b], w) for b in range(3)])

    close(got, possibilities(values))
    assert got[2] == 0.5  # no passage: zeros alone
    mix = np.random.default_rng(1).normal(size=3).astype("float32")
    same_gradients(
        lambda: ops.sum(ops.sigmoid(layer(passages, MASK)) * mix),
        variables,
        lambda v: float(possibilities(v) @ mix),
    )


def test_each_place_of_a_passage_has_weights_of_its_own_in_the_classifier():
    layer, passages, _, values = built(AnswerPossibility)
    assert values["score/kernel"].shape == (2 * 5, 1)
    everything = np.ones_like(MASK)
    x = ops.convert_to_numpy(passages)
    swapped = np.array(layer(x[:, ::-1], everything))
    assert not np.allclose(swapped, np.array(layer(x, everything)))


@pytest.mark.parametrize("kind", [PassageRanker, AnswerPossibility])
def test_logits_are_float32_in_half_precision(kind):
    layer = kind(dtype="mixed_float16")
    assert layer(arrays(SHAPES)["passages"], MASK).dtype == "float32"
