"""Adversarial SQuAD: the worst variant counts."""

import pytest

from tfmrc.evaluation import score_adversarial_squad


def test_worst_variant_of_each_score_separately():
    references = {key: ["old York city"] for key in ("a", "a-high-conf-turk0", "a-turk1", "b")}
    predictions = {
        "a": "old York city",  # EM 1, F1 1
        "a-high-conf-turk0": "York",  # EM 0, F1 = 2 * 1 / (1 + 3) = 1/2
        "a-turk1": "old York city hall",  # EM 0, F1 = 2 * 3 / (4 + 3)
        "b": "old York city",
    }
    scores = score_adversarial_squad(predictions, references)
    assert scores["exact_match"].value == 0.5
    assert scores["f1"].value == pytest.approx((0.5 + 1) / 2)
    assert scores["f1"].per_example == {"a": 0.5, "b": 1.0}
    assert scores.counts["variants"] == 4
