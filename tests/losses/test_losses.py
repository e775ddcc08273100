import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import Variable, ops

from tests.layers.agreement import same_gradients
from tests.reference import losses as reference
from tfmrc.losses import SequenceNLL, SmoothedBinaryCrossentropy, SpanPositionNLL
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import gradients

RANDOM = np.random.default_rng(0)
LOG_P = np.log(RANDOM.uniform(0.01, 1.0, size=(4, 5))).astype("float32")
LENGTHS = (5, 2, 0, 3)
TARGETS = np.array([[7] * n + [0] * (5 - n) for n in LENGTHS], "int32")
ANSWERABLE = np.array([1.0, 1.0, 0.0, 0.0])
LOGITS = (3 * RANDOM.normal(size=(4, 3))).astype("float32")
RELEVANCE = np.array([[1, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 0]], "float32")
THERE = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]], bool)


def words(log_p):
    return [list(row[:n]) for row, n in zip(log_p, LENGTHS, strict=True)]


def decoder_weights():
    """Returns the sample weights of the preprocessor: a B / N_answerable."""
    return (ANSWERABLE * 4 / ANSWERABLE.sum()).astype("float32")


@pytest.mark.equation("masque-23")
def test_decoder_loss_is_the_mean_over_the_answerable_examples():
    loss = SequenceNLL()
    got = float(loss(TARGETS, LOG_P, sample_weight=decoder_weights()))
    assert got == pytest.approx(reference.decoder(words(LOG_P), ANSWERABLE > 0), rel=1e-6)
    x = Variable(LOG_P)
    same_gradients(
        lambda: loss(TARGETS, x, sample_weight=decoder_weights()),
        {"x": x},
        lambda v: reference.decoder(words(v["x"]), ANSWERABLE > 0),
        positions=20,
    )


@pytest.mark.equation("masque-23")
def test_decoder_loss_of_each_example_is_the_mean_over_its_own_words():
    each = np.array(SequenceNLL(reduction=None)(TARGETS, LOG_P))
    np.testing.assert_allclose(each, [-np.mean(w) if w else 0.0 for w in words(LOG_P)], rtol=1e-6)


def test_position_loss_is_that_of_the_known_positions():
    loss = SpanPositionNLL(reduction=None)
    positions = np.array([0, -1, 4, 2])
    expected = [-LOG_P[0, 0], 0.0, -LOG_P[2, 4], -LOG_P[3, 2]]
    np.testing.assert_array_equal(loss(positions, LOG_P), expected)
    np.testing.assert_array_equal(loss(positions[:, None], LOG_P), expected)
    impossible = np.where(np.arange(4)[:, None] == 1, np.float32(LOG_ZERO), LOG_P)
    np.testing.assert_array_equal(loss(positions, impossible), expected)
    x = Variable(LOG_P)
    (gradient,) = gradients(lambda: ops.sum(loss(positions, x)), [x])
    right = np.zeros_like(LOG_P)
    right[[0, 2, 3], [0, 4, 2]] = -1.0
    np.testing.assert_array_equal(gradient, right)
    assert loss(positions, ops.cast(LOG_P, "float16")).dtype == "float32"


def test_padding_of_the_target_counts_for_nothing():
    loss = SequenceNLL(reduction=None)
    impossible = np.where(TARGETS == 0, np.float32(LOG_ZERO), LOG_P)
    np.testing.assert_array_equal(loss(TARGETS, impossible), loss(TARGETS, LOG_P))
    longer = np.pad(TARGETS, [(0, 0), (0, 3)]), np.pad(LOG_P, [(0, 0), (0, 3)])
    np.testing.assert_allclose(loss(*longer), loss(TARGETS, LOG_P), rtol=1e-6)
    x = Variable(impossible)
    (gradient,) = gradients(lambda: ops.sum(loss(TARGETS, x)), [x])
    np.testing.assert_array_equal(gradient[TARGETS == 0], 0.0)


def test_an_impossible_target_in_a_graph_counts_as_padding():
    loss = SequenceNLL(reduction=None)
    real = TARGETS != 0
    left = real & (np.cumsum(real, axis=1) != 2)  # the second word of each is impossible
    values = np.where(left | ~real, LOG_P, np.float32(LOG_ZERO))
    x = tf.Variable(values)

    @tf.function
    def computed():
        with tf.GradientTape() as tape:
            each = loss(TARGETS, x)
        return each, tape.gradient(each, x)

    each, gradient = computed()
    count = np.maximum(left.sum(axis=1, keepdims=True), 1).astype("float64")
    expected = -np.where(left, LOG_P.astype("float64"), 0.0).sum(axis=1) / count[:, 0]
    np.testing.assert_allclose(each, expected, rtol=1e-6)
    np.testing.assert_allclose(gradient, np.where(left, -1.0 / count, 0.0), rtol=1e-6)


def test_no_answerable_example_gives_zero():
    loss = SequenceNLL()
    assert float(loss(TARGETS, LOG_P, sample_weight=np.zeros(4, "float32"))) == 0.0


@pytest.mark.equation("masque-24")
def test_ranker_loss_is_the_mean_over_the_passages_that_are_there():
    loss = SmoothedBinaryCrossentropy()
    weight = (THERE * THERE.size / THERE.sum()).astype("float32")
    logits = np.where(THERE, LOGITS, np.float32(LOG_ZERO))
    got = float(loss(RELEVANCE * THERE, logits, sample_weight=weight))
    assert got == pytest.approx(reference.ranker(RELEVANCE, LOGITS, THERE), rel=1e-5)
    assert float(loss(RELEVANCE, LOGITS)) == pytest.approx(
        reference.ranker(RELEVANCE, LOGITS), rel=1e-5
    )
    x = Variable(LOGITS)
    same_gradients(
        lambda: loss(RELEVANCE, x, sample_weight=weight),
        {"x": x},
        lambda v: reference.ranker(RELEVANCE, v["x"], THERE),
    )


@pytest.mark.equation("masque-25")
def test_classifier_loss_is_the_mean_over_the_examples_whose_label_is_known():
    loss = SmoothedBinaryCrossentropy()
    known = np.array([True, True, False, True])
    weight = (known * 4 / known.sum()).astype("float32")
    logits, labels = LOGITS[:, 0], RELEVANCE[:, 0]
    got = float(loss(labels, logits, sample_weight=weight))
    assert got == pytest.approx(reference.classifier(labels, logits, known), rel=1e-5)
    x = Variable(logits)
    same_gradients(
        lambda: loss(labels, x, sample_weight=weight),
        {"x": x},
        lambda v: reference.classifier(labels, v["x"], known),
    )


@pytest.mark.equation("masque-24", "masque-25")
def test_positive_labels_alone_are_smoothed():
    loss = SmoothedBinaryCrossentropy(reduction=None)
    best = np.log(0.9 / 0.1)
    at = np.array([best - 1, best, best + 1, -20.0], "float32")
    positive, negative = loss(np.ones(4), at), loss(np.zeros(4), at)
    assert np.argmin(positive) == 1  # a positive example is best at 0.9, not at 1
    assert np.argmin(negative) == 3 and float(negative[3]) < 1e-8
    hard = SmoothedBinaryCrossentropy(positive_label=1.0, reduction=None)
    np.testing.assert_allclose(hard(np.ones(4), at), np.log1p(np.exp(-at)), rtol=1e-5)


def test_extreme_logits_stay_finite():
    loss = SmoothedBinaryCrossentropy(reduction=None)
    x = Variable(np.array([1e4, -1e4, LOG_ZERO, 0.0], "float32"))
    labels = np.array([0.0, 1.0, 0.0, 1.0])
    np.testing.assert_allclose(loss(labels, x), [1e4, 9e3, 0.0, np.log(2)], rtol=1e-6)
    (gradient,) = gradients(lambda: ops.sum(loss(labels, x)), [x])
    np.testing.assert_allclose(gradient, [1.0, -0.9, 0.0, -0.4], atol=1e-6)


@pytest.mark.parametrize("loss", [SequenceNLL(), SmoothedBinaryCrossentropy(positive_label=0.8)])
def test_config_round_trip(loss):
    again = keras.losses.deserialize(keras.losses.serialize(loss))
    assert type(again) is type(loss)
    assert again.get_config() == loss.get_config()


def test_positions_are_exact_whatever_floatx_is():
    log_p = np.full((1, 400), -9.0, "float32")
    log_p[0, 301] = -0.1
    before = keras.config.floatx()
    try:
        keras.config.set_floatx("bfloat16")
        assert float(SpanPositionNLL()(np.array([301]), log_p)) == pytest.approx(0.1)
    finally:
        keras.config.set_floatx(before)
    with pytest.raises(ValueError, match="at least 32 bits"):
        SpanPositionNLL(dtype="bfloat16")
