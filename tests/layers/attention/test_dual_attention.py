import numpy as np
import pytest
from keras import ops

from tests.layers import weights
from tests.layers.agreement import Compared, arrays, close
from tests.reference import dual_attention as reference
from tfmrc.layers import DualAttention
from tfmrc.testing import run_layer_test

# Example 0: its second passage is padding altogether. Example 1: no passage at all. Example 2: the
# question is padding altogether.
PASSAGE_MASK = np.array(
    [
        [[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 0, 0]],
        [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        [[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 1, 0]],
    ],
    bool,
)
QUESTION_MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], bool)
SHAPES = {"passages": (3, 3, 4, 2), "question": (3, 5, 2)}
D = 2


def expected(v):
    result = [
        reference.all_passages(
            v["passages"][b], PASSAGE_MASK[b], v["question"][b], QUESTION_MASK[b], v["similarity"]
        )
        for b in range(3)
    ]
    return [np.stack(part) for part in zip(*result, strict=True)]


@pytest.fixture(scope="module")
def compared():
    masks = {"passage_mask": PASSAGE_MASK, "question_mask": QUESTION_MASK}
    return Compared(DualAttention(), arrays(SHAPES), scale=1.0, **masks)


def test_layer():
    run_layer_test(
        DualAttention,
        {"initializer": 0.5},
        {**arrays(SHAPES), "passage_mask": PASSAGE_MASK, "question_mask": QUESTION_MASK},
        axes={
            "passages": "B K L d",
            "question": "B J d",
            "passage_mask": "B K L",
            "question_mask": "B J",
        },
        output_axes=["B K L g", "B J g"],
        padded=("K", "L", "J"),
        expected_output_shape=[(3, 3, 4, 10), (3, 5, 10)],
        expected_num_trainable_weights=1,
    )


@pytest.mark.equation("masque-05", "masque-07")
def test_what_each_passage_word_gets_of_the_question(compared):
    values, of_passages = compared.values, np.array(compared.run()[0])
    for b, k in [(0, 0), (0, 2), (2, 0), (2, 1)]:
        part = reference.one_passage(
            values["passages"][b, k], PASSAGE_MASK[b, k],
            values["question"][b], QUESTION_MASK[b], values["similarity"],
        )  # fmt: skip
        real = PASSAGE_MASK[b, k]
        close(of_passages[b, k][real, D : 2 * D], part.A1[real])
        close(of_passages[b, k][real, 2 * D : 3 * D], part.A2[real])
    np.testing.assert_array_equal(of_passages[2][PASSAGE_MASK[2]][:, D:], 0.0)  # no question


@pytest.mark.equation("masque-06", "masque-08")
def test_what_each_question_word_gets_of_one_passage():
    random = np.random.default_rng(4)
    passage, question = random.normal(size=(4, D)), random.normal(size=(5, D))
    passage_mask, question_mask = np.array([1, 1, 0, 1], bool), np.array([1, 1, 1, 1, 0], bool)
    layer = DualAttention()
    arguments = (
        passage[None, None], question[None], passage_mask[None, None], question_mask[None],
    )  # fmt: skip
    layer(*arguments)
    weights.randomise(layer, scale=1.0)
    of_question = np.array(layer(*arguments)[1])[0]
    w = weights.values(layer)["similarity"]
    part = reference.one_passage(passage, passage_mask, question, question_mask, w)
    close(of_question[question_mask, D : 2 * D], part.B1[question_mask])
    close(of_question[question_mask, 2 * D : 3 * D], part.B2[question_mask])


@pytest.mark.equation("masque-03", "masque-04")
def test_rows_and_columns_are_distributions():
    # With words that are unit vectors, A1 and B1 *are* the rows of A and the columns of B.
    layer = DualAttention()
    n = 4
    passage, question = np.eye(n)[None, None], np.eye(n)[None]
    passage_mask, question_mask = np.array([[[1, 1, 1, 0]]], bool), np.array([[1, 1, 0, 0]], bool)
    layer(passage, question, passage_mask, question_mask)
    weights.randomise(layer, scale=1.0)
    of_passages, of_question = layer(passage, question, passage_mask, question_mask)
    w = weights.values(layer)["similarity"]
    part = reference.one_passage(
        passage[0, 0], passage_mask[0, 0], question[0], question_mask[0], w
    )
    a, b = np.array(of_passages)[0, 0, :3, n : 2 * n], np.array(of_question)[0, :2, n : 2 * n].T
    close(a, part.A[:3])
    close(b, part.B[:, :2])
    np.testing.assert_allclose(a.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(b.sum(axis=0), 1.0, atol=1e-6)
    np.testing.assert_array_equal(a[:, 2:], 0.0)
    np.testing.assert_array_equal(b[3], 0.0)


def test_a_padded_passage_does_not_win_the_maximum():
    layer = DualAttention()
    passages = np.full((1, 2, 3, D), -5.0, "float32")  # real words below zero
    passages[0, 1] = 7.0
    mask = np.array([[[1, 1, 1], [0, 0, 0]]], bool)
    question = np.ones((1, 2, D), "float32")
    of_question = np.array(layer(passages, question, mask, np.ones((1, 2), bool))[1])
    np.testing.assert_allclose(of_question[..., D : 2 * D], -5.0, rtol=1e-6)


@pytest.mark.equation("masque-02", "masque-03", "masque-04", "masque-05", "masque-06", "masque-07")
@pytest.mark.equation("masque-08", "masque-09", "masque-10")
def test_values_and_gradients_at_real_words(compared):
    compared.check(expected, real=[PASSAGE_MASK, QUESTION_MASK], positions=30)


def test_with_match_equal_words_attend_to_each_other_from_the_start():
    """`similarity_init` times sqrt(d) is the score of two equal words: 8 at d = 64."""
    layer = DualAttention(initializer=0.0, similarity_init=1.0)
    layer.build((1, 1, 3, 64), (1, 3, 64))
    weight = ops.convert_to_numpy(layer.similarity)
    np.testing.assert_allclose(weight, [0.0] * 128 + [1 / 8] * 64)
    noisy = DualAttention(initializer=0.02, similarity_init=1.0)
    noisy.build((1, 1, 3, 6400), (1, 3, 6400))
    parts = ops.convert_to_numpy(noisy.similarity).reshape(3, 6400)
    np.testing.assert_allclose(parts.mean(axis=1), [0, 0, 1 / 80], atol=1e-3)
    np.testing.assert_allclose(parts.std(axis=1), 0.02, rtol=0.05)
    assert DualAttention.from_config(noisy.get_config()).similarity_init == 1.0
