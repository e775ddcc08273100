"""Ids of both sides: what is missing is refused or counted, never passed over."""

from collections.abc import Callable

import pytest

from tfmrc.evaluation import score_answerability, score_answers, score_squad

REFERENCES = {"a": ["the mill"], "b": ["the weir"]}


def test_a_missing_prediction_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match=r"1 of 2 references have no prediction: 'b'"):
        score_answers({"a": "the mill"}, REFERENCES)


def test_missing_as_empty_is_scored_zero_and_counted() -> None:
    scores = score_answers({"a": "the mill"}, REFERENCES, missing="empty")
    assert scores["rouge_l"].value == 0.5
    assert scores.counts["missing"] == 1
    assert scores["rouge_l"].size == 2


def test_missing_left_out_is_not_scored_but_counted() -> None:
    scores = score_answers({"a": "the mill"}, REFERENCES, missing="leave_out")
    assert scores["rouge_l"].value == 1.0
    assert (scores["rouge_l"].size, scores.counts["missing"]) == (1, 1)


def test_predictions_without_reference_are_counted() -> None:
    scores = score_squad({"a": "mill", "z": "owl"}, {"a": ["mill"]})
    assert scores.counts == {"missing": 0, "unused": 1}


def test_a_prediction_to_an_unanswerable_question_is_not_unused() -> None:
    scores = score_answers({"a": "the mill", "b": "x"}, {"a": ["the mill"], "b": []})
    assert (scores.counts["unused"], scores.counts["unanswerable"]) == (0, 1)


def test_the_decision_to_answer_needs_a_prediction_for_every_question() -> None:
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


def test_numbers_and_strings_as_ids_are_told_apart_in_the_message() -> None:
    with pytest.raises(ValueError, match="ids of type int, references with str"):
        score_answers({1: "x"}, {"1": ["x"]})


def test_unknown_treatment_is_refused() -> None:
    with pytest.raises(ValueError, match="Received: missing='skip'"):
        score_answers({}, {}, missing="skip")  # type: ignore[arg-type]


def test_a_string_as_references_is_refused() -> None:
    with pytest.raises(TypeError, match=r"references\['a'\]='the mill'"):
        score_answers({"a": "the mill"}, {"a": "the mill"})


@pytest.mark.parametrize("score", [score_answers, score_squad, score_answerability])
def test_lists_without_ids_are_refused(score: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match=r"`predictions` must be a dict .*\{\"q1\": .*=\['a'\]"):
        score(["a"], [["a"]])


@pytest.mark.parametrize("score", [score_answers, score_squad])
def test_a_list_of_references_is_refused(score: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match=r"`references` must be a dict .*=\[\['a'\]\]"):
        score({"q": "a"}, [["a"]])


def test_a_prediction_that_is_no_string_is_refused() -> None:
    with pytest.raises(TypeError, match=r"predictions\['a'\]=None"):
        score_answers({"a": None}, REFERENCES)  # type: ignore[dict-item]
