"""SQuAD's exact match and F1 by hand, version 1.1 against 2.0 where they differ."""

import pytest

from tfmrc.evaluation import score_squad


def _both(predictions: dict, references: dict, version: str) -> tuple[float, float]:
    scores = score_squad(predictions, references, version=version)  # type: ignore[arg-type]
    return float(scores["exact_match"]), float(scores["f1"])


def test_articles_case_and_punctuation_do_not_count() -> None:
    assert _both({"q": "The Owl-House!"}, {"q": ["an owlhouse"]}, "1.1") == (1.0, 1.0)


def test_f1_counts_words_as_often_as_they_occur() -> None:
    """ "mill mill weir" for "mill weir weir": shared mill 1, weir 1: P = R = 2/3."""
    exact, f1 = _both({"q": "mill mill weir"}, {"q": ["mill weir weir"]}, "1.1")
    assert (exact, f1) == (0.0, pytest.approx(2 / 3))


def test_the_best_reference_counts_for_each_score() -> None:
    """ "old mill" for "mill" (F1 2/3) and "old mill by ley" (F1 = 2 * 2 / 6): 2/3."""
    exact, f1 = _both({"q": "old mill"}, {"q": ["mill", "old mill by ley"]}, "1.1")
    assert (exact, f1) == (0.0, pytest.approx(2 / 3))


def test_an_empty_prediction() -> None:
    assert _both({"q": ""}, {"q": ["mill"]}, "1.1") == (0.0, 0.0)
    assert _both({"q": ""}, {"q": ["mill"]}, "2.0") == (0.0, 0.0)
    assert _both({"q": ""}, {"q": []}, "2.0") == (1.0, 1.0)
    assert _both({"q": "mill"}, {"q": []}, "2.0") == (0.0, 0.0)


def test_versions_differ_where_nothing_is_left_of_both() -> None:
    """ "the" for "a": both normalise to nothing. v1.1: exact, F1 0 (no word shared). v2.0: the
    reference is left aside, so the question has no answer and the prediction is right."""
    assert _both({"q": "the"}, {"q": ["a"]}, "1.1") == (1.0, 0.0)
    assert _both({"q": "the"}, {"q": ["a"]}, "2.0") == (1.0, 1.0)


def test_the_mean_is_over_questions() -> None:
    predictions = {"a": "mill", "b": "old weir", "c": ""}
    references = {"a": ["mill"], "b": ["weir"], "c": ["owl"]}
    assert _both(predictions, references, "1.1") == (
        pytest.approx(1 / 3),
        pytest.approx((1 + 2 / 3) / 3),
    )
