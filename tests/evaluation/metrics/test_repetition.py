"""Word duplication rates by hand."""

import pytest

from tfmrc.evaluation import score_repetition


def test_both_readings_by_hand():
    scores = score_repetition({"a": "The mill the mill the weir", "b": "who came ?"})
    # a: 6 words; "the" 3 times, "mill" twice: 3 extra occurrences, 2 repeated words. b: 3 words.
    assert scores["duplication_rate"].value == pytest.approx(3 / 9)
    assert scores["duplicated_words_rate"].value == pytest.approx(2 / 9)
    assert scores["duplication_rate"].per_example == {"a": 0.5, "b": 0.0}


def test_words_are_not_counted_across_texts():
    assert score_repetition({"a": "owl", "b": "owl"})["duplication_rate"].value == 0.0


def test_no_words():
    assert score_repetition({"a": ""})["duplication_rate"].value is None
    assert score_repetition({})["duplication_rate"].note == "no words"
