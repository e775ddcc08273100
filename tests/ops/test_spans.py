import numpy as np
import pytest

from tfmrc.ops import LOG_ZERO, best_spans


def every_span(begin, end, max_length):
    """All spans of one passage, best first; equal ones in the order of the passage."""
    positions = [
        (begin[i] + end[j], i, j)
        for i in range(len(begin))
        for j in range(i, min(i + max_length, len(begin)))
    ]
    return sorted(positions, key=lambda span: -span[0])


@pytest.mark.parametrize("max_length", [1, 3, 9])
@pytest.mark.parametrize("count", [1, 4])
def test_all_spans_of_brute_force(max_length, count):
    random = np.random.default_rng(max_length)
    begin, end = np.log(random.random((2, 5, 6)))
    begin, end = begin.astype("float32"), end.astype("float32")
    first, last, score = map(np.array, best_spans(begin, end, max_length, count))
    assert first.shape == last.shape == score.shape == (5, count)
    for b in range(5):
        right = every_span(begin[b], end[b], max_length)[:count]
        np.testing.assert_array_equal(list(zip(first[b], last[b], strict=True)),
                                      [span[1:] for span in right])  # fmt: skip
        np.testing.assert_allclose(score[b], [span[0] for span in right], rtol=1e-6)


def test_more_spans_than_there_are():
    begin = np.log([[0.25, 0.75]]).astype("float32")
    first, last, score = map(np.array, best_spans(begin, begin, 2, 5))
    assert list(zip(first[0, :3], last[0, :3], strict=True)) == [(1, 1), (0, 1), (0, 0)]
    assert (0 <= first).all() and (last <= 1).all()
    # A span that would end after the passage comes before one that there is not at all.
    np.testing.assert_allclose(score[0, 3:], [LOG_ZERO, 2 * LOG_ZERO], rtol=1e-6)
    first, last, _ = map(np.array, best_spans(begin, begin, 3, 9))
    assert (0 <= first).all() and (first <= last).all() and (last <= 1).all()


def test_one_span_by_default():
    begin = np.log(np.random.default_rng(0).random((2, 5)).astype("float32"))
    for got, right in zip(best_spans(begin, begin, 3), best_spans(begin, begin, 3, 1), strict=True):
        np.testing.assert_array_equal(got, right)
