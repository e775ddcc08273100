"""Calibration: scores of probabilities, by hand."""

import json

import numpy as np
import pytest

from tfmrc.evaluation import CalibrationReport
from tfmrc.evaluation.metrics.calibration import reliability, right_answers, risk_coverage

RIGHT = np.array([True, True, False, True, False])
RAW = np.array([0.95, 0.95, 0.95, 0.55, 0.55])
CALIBRATED = np.array([0.9, 0.8, 0.8, 0.35, 0.0])


@pytest.mark.parametrize(
    ("right", "expected"),
    [("exact_match", [True, False, False, True]), ("rouge_l", [True, True, False, True])],
)
def test_what_is_right(right, expected):
    texts = ["The Owl!", "the old mill", "The", ""]
    references = [["an eagle", "owl"], ["the mill"], [], []]
    assert right_answers(texts, references, right).tolist() == expected


def test_scores_of_a_report():
    report = CalibrationReport(RAW, CALIBRATED, RIGHT, CALIBRATED > 0.5, {"data": "dev"}, 50)
    values = {name: interval.value for name, interval in report.scores.items()}
    # Bins: 0.95 three times with two right; 0.55 twice with one right.
    assert values["raw_calibration_error"] == pytest.approx((abs(2.85 - 2) + 0.1) / 5)
    # 0.9, right; 0.8 twice, one right; 0.35, right; 0, wrong.
    assert values["calibration_error"] == pytest.approx((0.1 + 0.6 + 0.65 + 0) / 5)
    assert values["raw_brier"] == pytest.approx(np.mean((RAW - RIGHT) ** 2))
    # Both of 0.8 are decided together: 1/1, then 2/3 for two answers, 3/4, 3/5.
    risks = [0, 1 / 3, 1 / 3, 1 / 4, 2 / 5]
    assert values["risk_coverage_area"] == pytest.approx(np.mean(risks))
    np.testing.assert_allclose(risk_coverage(CALIBRATED, RIGHT)[1], risks)
    assert [values[f"coverage_at_{p}"] for p in (80, 90, 95)] == [0.2] * 3
    assert values["confident_coverage"] == 0.6
    assert values["confident_precision"] == pytest.approx(2 / 3)
    assert all(i.low <= i.value <= i.high for i in report.scores.values())
    record = json.loads(json.dumps(report.to_json()))
    assert (record["size"], record["data"], record["scores"]["brier"]["samples"]) == (5, "dev", 50)
    assert "| Precision at the threshold |  | 66.67 [" in report.markdown()


def test_reliability_leaves_out_empty_bins():
    means, shares = reliability(RAW, RIGHT)
    np.testing.assert_allclose(means, [0.55, 0.95])
    np.testing.assert_allclose(shares, [1 / 2, 2 / 3])
