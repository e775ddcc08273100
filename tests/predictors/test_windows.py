"""The engine of spans over windows."""

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.predictors.spans.windows import best_spans, over_windows, segment_logsumexp


@pytest.mark.parametrize("add", [segment_logsumexp, tf.math.unsorted_segment_sum])
def test_best_spans_of_questions(add):
    """Of 3 questions with 2 passages; the second one has no window."""
    texts = tf.constant(["An owl and an ant.", "The OWL.", "", "", "A bee", ""])
    row = tf.constant([0, 0, 1, 4])
    starts = tf.constant([[3, 11], [3, 0], [4, 0], [2, 2]])
    ends = tf.constant([[6, 17], [6, 2], [8, 3], [5, 5]])
    scores = tf.constant([[0.2, 0.1], [0.4, 0.3], [0.5, 0.1], [0.3, 0.4]])
    valid = tf.constant([[True, True], [True, True], [True, False], [True, True]])
    if add is segment_logsumexp:
        scores = tf.math.log(scores)
    best = best_spans(texts, row, starts, ends, scores, valid, num_questions=3, count=2, add=add)
    # owl: of two windows the better one, and the other passage; there is its best place.
    assert best.row.numpy().tolist() == [[1, 0], [-1, -1], [4, -1]]
    assert best.starts.numpy().tolist() == [[4, 0], [-1, -1], [2, -1]]
    assert best.ends.numpy().tolist() == [[8, 2], [-1, -1], [5, -1]]
    expected = np.array([[0.9, 0.3], [0.0, 0.0], [0.7, 0.0]])  # 0.3 + 0.4 for the same characters
    if add is segment_logsumexp:
        expected = np.log(expected, where=expected > 0, out=np.zeros_like(expected))
    np.testing.assert_allclose(best.score, expected, rtol=1e-5)
    assert best.window.numpy().tolist() == [2, -1, 3]


def test_spans_far_from_each_other_are_not_taken_for_one():
    """In 32 bits, the start times the 131,072 possible ends would be 0 for both."""
    starts, ends = tf.constant([[0, 32_768, 131_070]]), tf.constant([[32_770, 32_770, 131_071]])
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 20_000))) * 7
    best = best_spans(
        tf.constant([text]), tf.zeros([1], tf.int32), starts, ends, tf.constant([[0.3, 0.2, 0.1]]),
        tf.fill([1, 3], True), num_questions=1, count=3, add=tf.math.unsorted_segment_sum,
    )  # fmt: skip
    assert best.starts.numpy().tolist() == [[0, 32_768, 131_070]]


def test_chunks_are_read_one_after_another():
    windows = {"x": tf.constant([[1, 2], [3, 4], [5, 6]]), "y": tf.constant([1, 2, 3])}
    sizes = []

    def function(chunk):
        sizes.append(len(chunk["y"]))
        return chunk["x"] * chunk["y"][:, None], chunk["y"]

    first, second = over_windows(function, windows, tf.constant([2, 3]), (tf.int32, tf.int32))
    assert first.numpy().tolist() == [[1, 2], [6, 8], [15, 18]] and sizes == [2, 1]
    assert second.numpy().tolist() == [1, 2, 3]
