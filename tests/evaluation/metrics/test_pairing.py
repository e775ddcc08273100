"""Ids of both sides: what is missing is refused or counted, never passed over."""

import pytest

from tfmrc.evaluation import score_answers, score_squad

REFERENCES = {"a": ["the mill"], "b": ["the weir"]}


def test_a_missing_prediction_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"1 of 2 references have no prediction: 'b'"):
        score_answers({"a": "the mill"}, REFERENCES)


@pytest.mark.parametrize(("missing", "value", "size"), [("empty", 0.5, 2), ("leave_out", 1.0, 1)])
def test_a_missing_prediction_scores_zero_or_is_left_out_and_is_counted(missing, value, size):
    scores = score_answers({"a": "the mill"}, REFERENCES, missing=missing)
    assert (scores["rouge_l"].value, scores["rouge_l"].size) == (value, size)
    assert scores.counts["missing"] == 1


def test_predictions_without_reference_are_counted():
    scores = score_squad({"a": "mill", "z": "owl"}, {"a": ["mill"]})
    assert scores.counts == {"missing": 0, "unused": 1}


def test_a_prediction_to_an_unanswerable_question_is_not_unused():
    scores = score_answers({"a": "the mill", "b": "x"}, {"a": ["the mill"], "b": []})
    assert (scores.counts["unused"], scores.counts["unanswerable"]) == (0, 1)


def test_the_decision_to_answer_needs_a_prediction_for_every_question():
    """No prediction is no refusal to answer."""
    none = ["No Answer Present."]
    references = {"a": ["the mill"], "b": none, "c": []}
    with pytest.raises(ValueError, match=r"1 of 2 references have no prediction: 'b'"):
        score_answers({"a": "the mill"}, references)
    given = {"a": "the mill", "c": "a weir"}
    left_out = score_answers(given, references, missing="leave_out")
    assert left_out["answerable_f1"].size == 2 and left_out["answerable_precision"].value == 0.5
    empty = score_answers(given, references, missing="empty")
    assert empty["answerable_f1"].size == 3 and empty.counts["missing"] == 1
    # Rules without this score do not ask for predictions that nothing reads.
    assert score_answers({"a": "the mill"}, references | {"b": []}, "plain").counts["missing"] == 0


def test_a_string_as_references_is_refused():
    with pytest.raises(TypeError, match=r"references\['a'\]='the mill'"):
        score_answers({"a": "the mill"}, {"a": "the mill"})
