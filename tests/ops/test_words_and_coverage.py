"""Scores by word, and coverage, against loops."""

import numpy as np
import pytest

from tests.reference import question_generation as reference
from tfmrc.losses import SequenceMean
from tfmrc.ops import (
    coverage_overlap,
    first_positions,
    is_first,
    scores_of_targets,
    scores_of_words,
)
from tfmrc.ops.coverage import attended_again
from tfmrc.ops.masking import LOG_ZERO

SOURCE = np.array([[5, 8, 5, 0, 8, 5], [0, 0, 0, 0, 0, 0], [4, 4, 4, 4, 4, 4]], "int32")
SCORES = np.random.default_rng(0).normal(size=(3, 2, 6)).astype("float32")


def test_first_positions():
    np.testing.assert_array_equal(
        first_positions(SOURCE), [[0, 1, 0, 3, 1, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]
    )
    np.testing.assert_array_equal(
        is_first(SOURCE), [[1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]
    )


@pytest.mark.parametrize(("combine", "take"), [("max", np.max), ("sum", np.sum)])
def test_scores_of_words_and_targets(combine, take):
    words = np.array(scores_of_words(SCORES, SOURCE, combine))
    for b, t, m in np.ndindex(SCORES.shape):
        word = SOURCE[b, m]
        positions = np.flatnonzero(SOURCE[b] == word)
        first = word != 0 and positions[0] == m
        expected = take(SCORES[b, t, positions]) if first else LOG_ZERO
        assert words[b, t, m] == pytest.approx(expected, rel=1e-5)
        targets = np.full((3, 2), word, "int32")
        target = np.array(scores_of_targets(SCORES, SOURCE, targets, combine))[b, t]
        expected = take(SCORES[b, t, positions]) if word else LOG_ZERO
        assert target == pytest.approx(expected, rel=1e-5)


def test_attention_in_excess_of_one():
    coverage = np.array([[[1.5, 0.2, 1.25, 0.0], [3.0, 1.0, 0.9, 0.0]]])
    np.testing.assert_allclose(attended_again(coverage), [[0.75, 2.0]], rtol=1e-6)


def test_coverage_and_its_mean_over_real_words():
    attention = np.random.default_rng(1).dirichlet(np.ones(5), size=(2, 4))
    overlap = np.array(coverage_overlap(attention))
    right = np.array([reference.coverage(rows) for rows in attention])
    np.testing.assert_allclose(overlap, right, atol=1e-6)
    targets = np.array([[7, 8, 3, 0], [0, 0, 0, 0]])
    loss = SequenceMean(reduction=None)(targets, overlap)
    np.testing.assert_allclose(loss, [right[0, :3].mean(), 0.0], rtol=1e-6)
