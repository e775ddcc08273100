"""Answer possibility: the curve, the best threshold, F1 of decisions, by hand."""

import numpy as np
import pytest

from tfmrc.evaluation import precision_recall_curve, score_answerability

CHANCES = {"a": 0.9, "b": 0.8, "c": 0.6, "d": 0.6, "e": 0.1}
TRUTH = {"a": True, "b": False, "c": True, "d": True, "e": False}


def test_curve_by_hand():
    curve = precision_recall_curve(CHANCES, TRUTH)
    # Thresholds 0.9: 1 of 1 right, 1 of 3 found; 0.8: 1 of 2; 0.6 (c and d together): 3 of 4, all
    # found; 0.1: 3 of 5.
    np.testing.assert_allclose(curve.thresholds, [0.9, 0.8, 0.6, 0.1])
    np.testing.assert_allclose(curve.precision, [1, 1 / 2, 3 / 4, 3 / 5])
    np.testing.assert_allclose(curve.recall, [1 / 3, 1 / 3, 1, 1])
    assert curve.best_threshold == 0.6
    assert curve.best_f1 == pytest.approx(2 * 0.75 / 1.75)
    assert curve.average_precision == pytest.approx(1 / 3 + 2 / 3 * 3 / 4)


def test_scores_at_a_threshold():
    scores = score_answerability(CHANCES, TRUTH, threshold=0.7)
    # Answered: a (right), b (wrong): P = 1/2, R = 1/3, F1 = 2/5.
    assert scores["answerable_precision"].value == pytest.approx(1 / 2)
    assert scores["answerable_recall"].value == pytest.approx(1 / 3)
    assert scores["answerable_f1"].value == pytest.approx(2 / 5)
    assert scores["answerable_f1"].note == "threshold 0.7"


def test_the_best_threshold_says_where_it_was_chosen():
    scores = score_answerability(CHANCES, TRUTH)
    assert scores["best_answerable_f1"].value == pytest.approx(6 / 7)
    assert scores["best_answerable_f1"].note == "threshold 0.6, the best on these data"
    assert scores["best_answerable_precision"].value == pytest.approx(3 / 4)
    assert scores["best_answerable_f1"].label == "Answerable F1, best threshold"
    assert "answerable_f1" not in scores


def test_no_positive_is_refused():
    with pytest.raises(ValueError, match="none of them answerable"):
        precision_recall_curve({"a": 0.5}, {"a": False})


def test_never_answering_is_zero_not_a_division_by_zero():
    scores = score_answerability(CHANCES, TRUTH, threshold=2.0)
    assert [scores[n].value for n in ("answerable_f1", "answerable_precision")] == [0.0, 0.0]
