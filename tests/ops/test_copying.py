import numpy as np
import pytest
from keras import Variable, ops

from tests.reference import pointer_generator as reference
from tests.reference.basic import softmax
from tfmrc.ops.copying import copy_log_probability, scatter_copies
from tfmrc.ops.masking import LOG_ZERO, masked_log_softmax
from tfmrc.testing import gradients

# Two examples; the second has no word at all.
SOURCE = np.array([[7, 0, 9, 7, 4, 7], [0, 0, 0, 0, 0, 0]], "int32")
SCORES = np.random.default_rng(3).normal(size=(2, 3, 6)).astype("float32")
MASK = SOURCE != 0
ALPHA = softmax(SCORES, MASK[:, None, :])
TARGETS = np.array([[7, 9, 5], [7, 0, 4]], "int32")


def by_hand(targets):
    expected = np.zeros(targets.shape)
    for b, t in np.ndindex(targets.shape):
        expected[b, t] = reference.copy(ALPHA[b, t], SOURCE[b]).get(int(targets[b, t]), 0.0)
    return expected


@pytest.mark.equation("masque-17")
@pytest.mark.equation("masque-18")
def test_probability_of_a_target_is_the_sum_over_its_places():
    log_attention = masked_log_softmax(SCORES, MASK[:, None, :])
    got = np.array(copy_log_probability(log_attention, SOURCE, TARGETS))
    expected = by_hand(TARGETS)
    np.testing.assert_allclose(np.exp(got), expected, atol=1e-6)
    np.testing.assert_array_equal(got[expected == 0], np.float32(LOG_ZERO))


def test_pad_is_never_copied_whatever_attention_it_has():
    log_attention = np.log(np.full((1, 1, 4), 0.25, "float32"))
    source = np.array([[0, 5, 0, 5]])
    got = copy_log_probability(log_attention, source, np.array([[0]]))
    assert float(got[0, 0]) == np.float32(LOG_ZERO)
    spread = np.array(scatter_copies(np.exp(log_attention), source, 6))
    np.testing.assert_allclose(spread[0, 0], [0, 0, 0, 0, 0, 0.5], atol=1e-6)


def test_distribution_over_words_agrees_with_the_single_probabilities():
    spread = np.array(scatter_copies(ALPHA.astype("float32"), SOURCE, 12))
    assert spread.shape == (2, 3, 12)
    for b, t in np.ndindex(2, 3):
        for word in range(12):
            expected = reference.copy(ALPHA[b, t], SOURCE[b]).get(word, 0.0) if word else 0.0
            assert spread[b, t, word] == pytest.approx(expected, abs=1e-6)


def test_gradient_reaches_the_scores_of_every_place_of_the_target():
    x = Variable(SCORES)

    def scalar():
        log_p = copy_log_probability(masked_log_softmax(x, MASK[:, None, :]), SOURCE, TARGETS)
        return ops.sum(ops.where(log_p > LOG_ZERO / 2, log_p, 0.0))

    (gradient,) = gradients(scalar, [x])
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(gradient[1], 0.0)
    # d log P / d e_s = alpha_s [x_s = y] / P - alpha_s
    for t, word in enumerate(TARGETS[0][:2]):
        same = SOURCE[0] == word
        expected = ALPHA[0, t] * same / (ALPHA[0, t] * same).sum() - ALPHA[0, t]
        np.testing.assert_allclose(gradient[0, t], expected, atol=1e-6)
