"""MAP and MRR by hand."""

import pytest

from tfmrc.evaluation import score_ranking


def test_by_hand():
    scores = score_ranking(
        {"a": [0.1, 0.9, 0.4, 0.2], "b": [0.9, 0.8, 0.7], "c": [0.5, 0.6]},
        {"a": [True, False, True, False], "b": [True, False, False], "c": [False, False]},
    )
    # a: order 2, 3, 4, 1: relevant at places 2 and 4: AP = (1/2 + 2/4) / 2 = 1/2, RR = 1/2.
    # b: AP = RR = 1. c has no relevant passage and is not scored.
    assert scores["map"].value == pytest.approx(0.75)
    assert scores["mrr"].value == pytest.approx(0.75)
    assert scores["map"].size == 2
    assert scores.counts["without_relevant"] == 1


def test_equal_scores_keep_the_given_order():
    scores = score_ranking({"a": [0.0, 0.0, 0.0]}, {"a": [False, False, True]})
    assert scores["mrr"].value == pytest.approx(1 / 3)


def test_lengths_must_fit():
    with pytest.raises(ValueError, match=r"shape \(2,\), references of shape \(3,\)"):
        score_ranking({"a": [0.1, 0.2]}, {"a": [True, False, False]})
