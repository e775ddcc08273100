"""Laws of masks and copying that hold for any numbers."""

import numpy as np
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

from tests.reference import basic, pointer_generator as reference
from tfmrc.ops.copying import copy_log_probability, scatter_copies
from tfmrc.ops.masking import LOG_ZERO, masked_log_softmax, masked_logsumexp, masked_softmax

N = 6
QUICK = settings(max_examples=40, deadline=None)
SCORES = arrays.arrays(np.float32, (3, N), elements=st.floats(-50, 50, width=32))
MASKS = arrays.arrays(np.bool_, (3, N))
SOURCES = arrays.arrays(np.int32, (3, N), elements=st.integers(0, 8))


@QUICK
@given(SCORES, MASKS)
def test_softmax_is_a_distribution_over_what_is_real(scores, mask):
    weights = np.array(masked_softmax(scores, mask))
    assert (weights >= 0).all() and (weights[~mask] == 0).all()
    np.testing.assert_allclose(weights.sum(-1), mask.any(-1), atol=1e-5)
    np.testing.assert_allclose(weights, basic.softmax(scores, mask), atol=1e-5)


@QUICK
@given(SCORES, MASKS, st.floats(-100, 100), SCORES)
def test_what_stands_at_padding_and_a_shift_do_not_matter(scores, mask, shift, other):
    moved = np.where(mask, scores + np.float32(shift), other)
    np.testing.assert_allclose(masked_softmax(moved, mask), masked_softmax(scores, mask), atol=2e-4)
    np.testing.assert_allclose(
        np.array(masked_logsumexp(moved, mask))[mask.any(-1)],
        np.array(masked_logsumexp(scores, mask))[mask.any(-1)] + np.float32(shift),
        atol=2e-4,
    )


@QUICK
@given(SCORES, SOURCES)
def test_copying_is_the_sum_over_equal_words(scores, source):
    alpha = basic.softmax(scores, source != 0)
    log_attention = masked_log_softmax(scores, source != 0)[:, None]
    spread = np.array(scatter_copies(np.exp(log_attention), source, 9))[:, 0]
    np.testing.assert_allclose(spread.sum(-1), (source != 0).any(-1), atol=1e-5)
    words = np.tile(np.arange(9, dtype="int32"), (3, 1))
    one_by_one = np.array(copy_log_probability(np.repeat(log_attention, 9, 1), source, words))
    for b in range(3):
        right = reference.copy(alpha[b], source[b])
        for word in range(1, 9):
            p = right.get(word, 0.0)
            assert abs(spread[b, word] - p) < 1e-5
            assert abs(np.exp(one_by_one[b, word]) - p) < 1e-5
            assert (one_by_one[b, word] == np.float32(LOG_ZERO)) == (word not in source[b])
