"""The passage ranker and the classifier of answer possibility."""

import numpy as np
import pytest
from keras import ops

from tests.layers.agreement import Compared, arrays
from tests.reference import heads as reference
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


@pytest.mark.equation("masque-11")
def test_relevance():
    compared = Compared(PassageRanker(), arrays(SHAPES), passage_mask=MASK)

    def relevance(v):
        w = v["score/kernel"][:, 0]
        return np.array([reference.relevance(passages, w) for passages in v["passages"]])

    compared.check(relevance, lambda: ops.sigmoid(compared.run()), real=[PRESENT])
    assert (np.array(compared.run())[~PRESENT] == np.float32(LOG_ZERO)).all()


@pytest.mark.equation("masque-12")
def test_answer_possibility():
    compared = Compared(AnswerPossibility(), arrays(SHAPES), passage_mask=MASK)

    def possibilities(v):
        w = v["score/kernel"][:, 0]
        return np.array([reference.possibility(v["passages"][b], PRESENT[b], w) for b in range(3)])

    compared.check(possibilities, lambda: ops.sigmoid(compared.run()))
    assert np.array(compared.run())[2] == 0.0  # no passage: zeros, of the probability 0.5


def test_each_place_of_a_passage_has_weights_of_its_own_in_the_classifier():
    compared = Compared(AnswerPossibility(), arrays(SHAPES), passage_mask=MASK)
    layer, x = compared.layer, arrays(SHAPES)["passages"]
    assert compared.values["score/kernel"].shape == (2 * 5, 1)
    everything = np.ones_like(MASK)
    swapped = np.array(layer(x[:, ::-1], everything))
    assert not np.allclose(swapped, np.array(layer(x, everything)))


@pytest.mark.parametrize("kind", [PassageRanker, AnswerPossibility])
def test_logits_are_float32_in_half_precision(kind):
    layer = kind(dtype="mixed_float16")
    assert layer(arrays(SHAPES)["passages"], MASK).dtype == "float32"
