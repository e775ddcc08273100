import numpy as np
import pytest
import tensorflow as tf

from tfmrc.predictors.results.provenance import common_passage, provenance

# One example: a question of 3 places, 2 passages of 4; G = 10.
SOURCE = {
    "question_ids": np.array([[5, 7, 0]]),
    "passage_ids": np.array([[[2, 5, 8, 5], [2, 8, 5, 0]]]),
    "extended_ids": np.array([[5, 11, 0, 0, 5, 15, 5, 0, 15, 5, 0]]),
    "words": np.array([["Five", "?", "", "", "five", "x", "FIVE", "", "x2", "five", ""]]),
    "starts": np.array([[0, 4, 0, 0, 1, 11, 21, 0, 31, 41, 0]]),
    "ends": np.array([[3, 6, 0, 0, 2, 12, 22, 0, 32, 42, 0]]),
}


@pytest.mark.equation("masque-19")
def test_the_largest_term_names_the_source_and_the_largest_attention_the_place():
    ids = tf.constant([[5, 5, 15, 11, 4, 3, 0]])
    shares = [
        [0.1, 0.2, 0.7],  # word 5 from the passages: its third place there has most attention
        [0.1, 0.6, 0.3],  # word 5 from the question, though a passage place has more attention
        [0.0, 0.0, 1.0],  # word 15 from the passages, the later place
        [0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.9, 0.05, 0.05],
        [0.0, 0.0, 1.0],  # padding
    ]
    question = np.zeros([1, 7, 3], "float32")
    question[0, :, 0], question[0, :, 2] = 0.1, 0.9
    passages = np.full([1, 7, 8], 0.01, "float32")
    passages[0, 0] = [0.9, 0.1, 0.2, 0.3, 0.9, 0.9, 0.15, 0.9]
    passages[0, 2] = [0.9, 0.9, 0.2, 0.9, 0.9, 0.4, 0.9, 0.9]
    mixture = np.random.default_rng(0).random([1, 7, 3]).astype("float32")
    with np.errstate(divide="ignore"):
        log_parts = np.log(np.array([shares], "float32"))
    parts = {
        "log_parts": tf.constant(log_parts),
        "mixture": tf.constant(mixture),
        "question_attention": tf.constant(question),
        "passage_attention": tf.constant(passages),
    }
    found = provenance(ids, parts, SOURCE)
    kinds = [kind.decode() for kind in found["sources"].numpy()[0]]
    v, q, p = "vocabulary", "question", "passage"
    assert kinds == [p, q, p, q, v, v, v]
    np.testing.assert_array_equal(found["word_passages"], [[0, -1, 1, -1, -1, -1, -1]])
    np.testing.assert_array_equal(found["word_starts"], [[21, 0, 31, 4, -1, -1, -1]])
    np.testing.assert_array_equal(found["word_ends"], [[22, 3, 32, 6, -1, -1, -1]])
    np.testing.assert_array_equal(
        found["source_texts"], [[b"FIVE", b"Five", b"x2", b"?", b"", b"", b""]]
    )
    np.testing.assert_array_equal(found["mixture"], mixture)


def test_the_passage_of_a_text_is_that_of_all_its_words():
    passages = [[0, 0, 1], [2, 2, 2], [0, -1, 0], [-1, -1, -1], [1, -1, -1]]
    real = [[True, True, False], [True] * 3, [True] * 3, [True] * 3, [False] * 3]
    assert common_passage(passages, real).numpy().tolist() == [0, 2, -1, -1, -1]
    assert common_passage(tf.zeros([2, 0], tf.int32), tf.zeros([2, 0], bool)).shape == (2,)
