import numpy as np
import pytest
import tensorflow as tf
from keras import Variable, ops

from tests import fresh_python
from tests.reference import basic
from tfmrc.ops.masking import (
    LOG_ZERO,
    biased_softmax,
    mask_bias,
    masked_log_softmax,
    masked_logsumexp,
    masked_max,
    masked_softmax,
)
from tfmrc.ops.maxout import maxout
from tfmrc.testing import gradients

SCORES = np.array([[1.0, -2.0, 0.5, 3.0], [0.0, 4.0, 4.0, -1.0], [9.0, 9.0, 9.0, 9.0]], "float32")
MASK = np.array([[1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]], bool)


def test_softmax_is_the_references_with_zeros_for_an_empty_row():
    got = np.array(masked_softmax(SCORES, MASK))
    np.testing.assert_allclose(got, basic.softmax(SCORES, MASK), atol=1e-6)
    np.testing.assert_array_equal(got[2], 0.0)
    np.testing.assert_array_equal(got[~MASK], 0.0)


def test_softmax_without_a_mask_and_along_another_axis():
    np.testing.assert_allclose(masked_softmax(SCORES), basic.softmax(SCORES), atol=1e-6)
    np.testing.assert_allclose(
        masked_softmax(SCORES, MASK, axis=0), basic.softmax(SCORES.T, MASK.T).T, atol=1e-6
    )


@pytest.mark.parametrize("shift", [-3e4, 0.0, 3e4])
def test_a_shift_of_all_scores_changes_nothing(shift):
    # Scores far below any "large negative number" must still win over padding.
    moved = (SCORES + np.float32(shift)).astype("float32")
    np.testing.assert_allclose(
        masked_softmax(moved, MASK), basic.softmax(SCORES, MASK), rtol=2e-2, atol=1e-6
    )
    assert np.array(masked_softmax(moved, MASK))[2].sum() == 0.0


def test_softmax_with_a_prepared_mask():
    real = MASK.any(axis=1)
    bias = mask_bias(MASK)
    np.testing.assert_array_equal(bias, np.where(MASK, np.float32(0), np.float32(LOG_ZERO)))
    got = np.array(biased_softmax(SCORES, bias))
    stacked = biased_softmax(np.stack([SCORES, SCORES]), bias)
    np.testing.assert_array_equal(stacked, np.stack([got, got]))
    np.testing.assert_allclose(got[real], basic.softmax(SCORES, MASK)[real], atol=1e-6)
    np.testing.assert_array_equal(got[real][~MASK[real]], 0.0)
    half = biased_softmax((SCORES - 3e4).astype("float16"), mask_bias(MASK))
    assert half.dtype == "float16" and np.isfinite(np.array(half)).all()


def test_infinite_padding_does_no_harm():
    scores = np.where(MASK, SCORES, np.inf).astype("float32")
    np.testing.assert_allclose(masked_softmax(scores, MASK), basic.softmax(SCORES, MASK), atol=1e-6)
    assert np.isfinite(np.array(masked_log_softmax(scores, MASK))).all()


def test_log_softmax_and_logsumexp():
    got = np.array(masked_log_softmax(SCORES, MASK))
    with np.errstate(divide="ignore"):
        expected = np.log(basic.softmax(SCORES, MASK))
    np.testing.assert_allclose(got[MASK], expected[MASK], atol=1e-6)
    np.testing.assert_array_equal(got[~MASK], np.float32(LOG_ZERO))
    sums = np.array(masked_logsumexp(SCORES, MASK))
    np.testing.assert_allclose(sums[0], np.log(np.exp([1.0, -2.0, 3.0]).sum()), rtol=1e-6)
    np.testing.assert_allclose(sums[1], 4.0, rtol=1e-6)
    assert sums[2] == np.float32(LOG_ZERO)
    assert masked_logsumexp(SCORES, MASK, axis=0, keepdims=True).shape == (1, 4)
    np.testing.assert_allclose(
        masked_logsumexp(SCORES), np.log(np.exp(SCORES.astype(float)).sum(-1)), rtol=1e-6
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_maximum_takes_no_padding_and_is_zero_where_nothing_is_real(dtype):
    got = masked_max(ops.cast(-np.abs(SCORES), dtype), MASK, axis=1)
    assert got.dtype == dtype
    np.testing.assert_array_equal(ops.cast(got, "float32"), [-1.0, -4.0, 0.0])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_maximum_below_what_float16_can_hold(dtype):
    x = ops.cast(np.array([[-1e9, -2e9, 0.0], [-3e37, 1.0, 2.0]]), dtype)
    mask = np.array([[1, 1, 0], [1, 0, 0]], bool)
    got = ops.cast(masked_max(x, mask, axis=1), "float32")
    np.testing.assert_array_equal(got, ops.cast(x[:, 0], "float32"))


def test_the_maximum_of_no_example_has_no_row():
    x, mask = np.zeros((0, 3, 2), "float32"), np.zeros((0, 3, 1), bool)
    assert tuple(masked_max(x, mask, axis=1).shape) == (0, 2)


def test_lengths_that_a_graph_does_not_know():
    size = [tf.TensorSpec([None, None]), tf.TensorSpec([None, None], tf.bool)]
    traced = tf.function(masked_softmax, input_signature=size, autograph=False)
    for length in (4, 1, 0):
        x, mask = SCORES[:, :length], MASK[:, :length]
        np.testing.assert_array_equal(traced(x, mask), masked_softmax(x, mask))


@pytest.mark.parametrize("function", [masked_softmax, masked_log_softmax, masked_logsumexp])
def test_nan_is_not_hidden_at_a_real_position_and_is_at_padding(function):
    x, mask = SCORES[:2].copy(), MASK[:2]
    x[0, 1] = x[1, 0] = np.nan
    got = np.array(function(x, mask))
    assert np.isnan(got[0]).any() and np.isfinite(got[1]).all()


@pytest.mark.parametrize("mask", [None, np.array([[True, True, False], [True, True, True]])])
def test_impossible_words_alone_sum_to_nothing_with_a_gradient(mask):
    x = Variable(np.array([[-np.inf, -np.inf, -np.inf], [-np.inf, 2.0, 1.0]], "float32"))
    got = np.array(masked_logsumexp(x, mask))
    np.testing.assert_allclose(got, [LOG_ZERO, np.logaddexp(2.0, 1.0)], rtol=1e-6)
    (gradient,) = gradients(lambda: ops.sum(masked_logsumexp(x, mask)), [x])
    expected = [[0, 0, 0], [0, 1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))]]
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_keeps_its_dtype_and_normalises_in_float32(dtype):
    scores = ops.cast(np.linspace(-8, 8, 3000, dtype="float32")[None], dtype)
    mask = np.arange(3000)[None] < 2500
    weights = masked_softmax(scores, mask)
    assert weights.dtype == scores.dtype
    total = float(ops.sum(ops.cast(weights, "float32")))
    assert total == pytest.approx(1.0, abs=5e-3)
    assert masked_logsumexp(scores, mask).dtype == "float32"
    low = ops.cast(-SCORES * 1000, dtype)
    assert np.isfinite(np.array(ops.cast(masked_max(low, MASK, axis=1), "float32"))).all()


@pytest.mark.parametrize("masked", [False, True])
def test_products_beyond_float16_are_its_largest_numbers(masked):
    product = ops.matmul(
        ops.cast([[300.0, 300.0]], "float16"),
        ops.cast([[400.0, -400.0, 200.0, 1.0], [400.0, -400.0, 300.0, 1.0]], "float16"),
    )  # 240,000 and -240,000 are infinite in float16, and so is 150,000
    assert np.isinf(np.array(product)).tolist() == [[True, True, True, False]]
    mask = np.array([[True, True, False, True]]) if masked else None
    ways = 1.0 if masked else 2.0
    expected = [[1 / ways, 0.0, 0.0 if masked else 1 / ways, 0.0]]
    np.testing.assert_array_equal(np.array(masked_softmax(product, mask)), expected)
    logs = np.array(masked_log_softmax(product, mask))
    np.testing.assert_allclose(np.exp(logs), expected, rtol=1e-6)
    total = np.array(masked_logsumexp(product, mask))
    np.testing.assert_allclose(total, [65504 + np.log(ways)], rtol=1e-7)


def test_gradient_in_float16_is_right_and_finite_at_infinite_scores():
    x = Variable(np.where(MASK, SCORES, np.inf), dtype="float16")  # a row is padding alone
    weights = np.random.default_rng(0).normal(size=SCORES.shape)
    (gradient,) = gradients(lambda: ops.sum(masked_softmax(x, MASK) * weights.astype("f2")), [x])
    p = basic.softmax(SCORES, MASK)
    expected = p * (weights - (weights * p).sum(-1, keepdims=True))
    np.testing.assert_allclose(gradient, expected, atol=2e-3)
    infinite = Variable([[np.inf, 1.0, -np.inf]], dtype="float16")
    for function in (masked_softmax, masked_log_softmax, masked_logsumexp):
        (gradient,) = gradients(lambda f=function: ops.sum(f(infinite)), [infinite])
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_scores_of_wider_numbers_are_not_cut(dtype):
    scores = ops.cast([[131072.0, 0.0]], dtype)  # a power of two: exact in both
    assert np.array(masked_logsumexp(scores)).tolist() == [131072.0]


@pytest.mark.parametrize("function", [masked_softmax, masked_log_softmax, masked_logsumexp])
def test_gradient_is_finite_zero_at_padding_and_right(function):
    x = Variable(SCORES)
    weights = np.random.default_rng(0).normal(size=np.array(function(SCORES, MASK)).shape)

    def scalar():
        y = function(x, MASK)
        return ops.sum(ops.where(y > LOG_ZERO / 2, y, 0.0) * weights.astype("float32"))

    (gradient,) = gradients(scalar, [x])
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(gradient[~MASK], 0.0)
    p = basic.softmax(SCORES, MASK)
    if function is masked_softmax:
        expected = p * (weights - (weights * p).sum(-1, keepdims=True))
    elif function is masked_log_softmax:
        real = np.where(MASK, weights, 0.0)
        expected = real - p * real.sum(-1, keepdims=True)
    else:
        expected = weights[:, None] * p
    np.testing.assert_allclose(gradient, expected, atol=1e-5)


def test_gradient_of_the_maximum():
    x = Variable(SCORES[:2])
    (gradient,) = gradients(lambda: ops.sum(masked_max(x, MASK[:2], axis=1)), [x])
    np.testing.assert_array_equal(gradient, [[0, 0, 0, 1], [0, 0, 1, 0]])


def test_a_batch_without_examples():
    for mask in (None, np.zeros((0, 3), bool)):
        assert masked_logsumexp(np.zeros((0, 3), "float32"), mask).shape == (0,)
    assert np.array(masked_logsumexp(np.zeros((2, 0), "float32"))).tolist() == [LOG_ZERO] * 2
    assert maxout(np.zeros((0, 4), "float32")).shape == (0, 2)


def test_agreement_with_or_without_one_dnn():
    """TensorFlow uses it by default on some CPUs only; its softmax takes five axes at most.

    The tests run by default one way; here the other way.
    """
    from tensorflow.python.framework.test_util import IsMklEnabled

    other = str(int(not IsMklEnabled()))
    files = ["tests/ops/test_masking.py", "tests/layers/attention/test_multi_head_attention.py"]
    options = ["-q", "-p", "no:cacheprovider", "-k", "not one_dnn"]
    fresh_python.run("-m", "pytest", *options, *files, TF_ENABLE_ONEDNN_OPTS=other)
