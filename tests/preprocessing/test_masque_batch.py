"""Labels and sample weights on batches in which not everything is known."""

import numpy as np
import pytest
import tensorflow as tf

from tests.text.helpers import preprocessor
from tfmrc.preprocessing import MasquePreprocessor
from tfmrc.text import Vocabulary

RECORDS = {
    "question": ["Who met?", "Who?", "Ada", "k2", "and"],
    "passages": [["a b", "the"], ["c", ""], ["", ""], [" ", "x"], ["queen", "king"]],
    "style": ["qa", "nlg", "qa", "qa", "nlg"],
    "answer": ["the king", "", "Ada", "k2", "queen"],
    "answerable": [1, 0, -1, 1, 0],
    "relevance": [[0, 1], [0, -1], [1, 1], [-1, -1], [1, 0]],
}


@pytest.fixture
def records():
    return {name: tf.constant(values) for name, values in RECORDS.items()}


def test_labels_and_weights(records):
    x, y, weight = preprocessor().batch(records)
    assert sorted(x) == [
        "answer_ids", "extended_ids", "passage_ids", "question_ids", "style_ids", "target_ids"
    ]  # fmt: skip
    assert y["decoder"].numpy().tolist() == x["target_ids"].numpy().tolist()
    assert y["ranker"].numpy().tolist() == [[0, 1], [0, 0], [1, 1], [0, 0], [1, 0]]
    assert y["classifier"].numpy().tolist() == [1, 0, 0, 1, 0]
    # Three of five have an answer and are not known to be unanswerable.
    assert weight["decoder"].numpy() == pytest.approx([5 / 3, 0, 5 / 3, 5 / 3, 0])
    # Five of ten: present passages of known relevance.
    expected = np.array([[1, 1], [1, 0], [0, 0], [0, 0], [1, 1]]) * 10 / 5
    assert weight["ranker"].numpy() == pytest.approx(expected)
    assert weight["classifier"].numpy() == pytest.approx([5 / 4, 5 / 4, 0, 5 / 4, 5 / 4])
    for tensor in (*weight.values(), y["ranker"], y["classifier"]):
        assert tensor.dtype == tf.float32


@pytest.mark.equation("masque-23")
@pytest.mark.equation("masque-24")
@pytest.mark.equation("masque-25")
def test_the_mean_of_weighted_losses_is_the_mean_over_what_counts(records):
    generator = np.random.default_rng(1)
    _, _, weight = preprocessor().batch(records)
    for name, tensor in weight.items():
        losses = generator.normal(size=tensor.shape)
        counted = tensor.numpy() > 0
        assert (losses * tensor).numpy().mean() == pytest.approx(losses[counted].mean())
        assert counted.sum() == {"decoder": 3, "ranker": 5, "classifier": 4}[name]


def test_without_a_relevant_passage_among_those_that_are_read_no_answer_is_trained(records):
    # The third passage is cut. It was the only relevant one of the first, fourth and last question;
    # the last has no answer in any passage.
    cut = [[0, 0, 1], [0, -1, 1], [1, 1, 0], [-1, 0, 1], [0, 0, 1]]
    passages = tf.concat([records["passages"], tf.fill([5, 1], "the king")], axis=1)
    records |= {"relevance": tf.constant(cut), "passages": passages}
    _, y, weight = preprocessor().batch(records)
    assert weight["decoder"].numpy().astype(bool).tolist() == [False, False, True, False, False]
    assert weight["classifier"].numpy().astype(bool).tolist() == [False, True, False, False, True]
    assert y["classifier"].numpy().tolist() == [0, 0, 0, 0, 0]
    assert not y["ranker"].numpy()[[0, 1, 3, 4]].any()


def test_gold_relevance(records):
    x, _, _ = preprocessor(gold_relevance=True).batch(records)
    # Unknown relevance of a real passage counts as relevant: nothing is held back.
    assert x["relevance_gold"].numpy().tolist() == [[0, 1], [0, 0], [0, 0], [1, 1], [1, 0]]


def test_other_numbers_of_passages(records):
    for given, selected in ((1, [[0], [0], [1], [0], [1]]), (3, None)):
        _, y, weight = preprocessor(num_passages=given).batch(records)
        expected = selected or [[0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0]]
        assert y["ranker"].numpy().tolist() == expected
        assert weight["ranker"].shape == (5, given)
        assert weight["ranker"].numpy().sum() == pytest.approx(5 * given)


def test_rotation_moves_unknown_words_alone_and_keeps_equal_words_equal():
    preprocessor = MasquePreprocessor(
        Vocabulary(["the", "king"], num_oov_buckets=50), num_passages=1, answer_length=4
    )
    records = {
        "question": ["Ada met Bo", "Ada"],
        "passages": [["the Ada king Bo"], ["Bo Ada"]],
        "style": ["qa", "qa"],
        "answer": ["Bo the Ada", "Ada"],
    }
    first = preprocessor.vocabulary.size
    still, _, _ = preprocessor.batch(records | {"rotation": [0, 50]})
    moved, _, _ = preprocessor.batch(records | {"rotation": [7, 2**31 - 2]})
    for name in ("question_ids", "passage_ids", "answer_ids"):
        before, after = still[name].numpy(), moved[name].numpy()
        assert (before[0] < first).tolist() == (after[0] < first).tolist()
        for row, steps in enumerate((7, 2**31 - 2)):
            known = before[row] < first
            expected = first + (before[row] - first + steps % 50) % 50
            np.testing.assert_array_equal(after[row], np.where(known, before[row], expected))
    for name in ("extended_ids", "target_ids"):
        np.testing.assert_array_equal(still[name], moved[name])
