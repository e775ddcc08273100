"""The K-best oracle by hand."""

import pytest

from tfmrc.evaluation import score_oracle


def test_by_hand():
    scores = score_oracle(
        {"a": ["Leeds", "old York", "York"], "b": ["ten"]},
        {"a": ["York"], "b": ["six"]},
        k=(1, 2, 3),
    )
    assert [scores[f"exact_match@{k}"].value for k in (1, 2, 3)] == [0.0, 0.0, 0.5]
    # Best of two: "old York" against "York": F1 = 2 / 3, mean over two questions 1 / 3.
    assert [scores[f"f1@{k}"].value for k in (1, 2, 3)] == pytest.approx([0.0, 1 / 3, 0.5])


def test_no_answers_count_as_an_empty_one():
    assert score_oracle({"a": []}, {"a": ["York"]}, k=(1,))["f1@1"].value == 0.0


def test_one_text_for_several_is_refused():
    with pytest.raises(TypeError, match=r"predictions\['a'\]='York'"):
        score_oracle({"a": "York"}, {"a": ["York"]})
