"""ROUGE-L and BLEU by hand, under NarrativeQA's rules and those of question generation."""

import math

import pytest

from tfmrc.evaluation import score_answers


def test_rouge_l_of_one_reference() -> None:
    """ "the owl flew home" for "home the grey owl flew": common subsequence "the owl flew", 3.

    P = 3/4, R = 3/5, F = 2.44 * P * R / (R + 1.44 * P) = 1.098 / 1.68.
    """
    scores = score_answers(
        {"q": "the owl flew home"}, {"q": ["home the grey owl flew"]}, "qg", meteor=False
    )
    assert scores["rouge_l"].value == pytest.approx(1.098 / 1.68)


def test_rouge_l_takes_precision_and_recall_from_different_references() -> None:
    """ "a b c d" for "a" (P 1/4, R 1) and "a b c x y z" (P 3/4, R 3/6): P = 3/4, R = 1."""
    scores = score_answers({"q": "a b c d"}, {"q": ["a", "a b c x y z"]}, "qg", meteor=False)
    assert scores["rouge_l"].value == pytest.approx(2.44 * 0.75 / (1 + 1.44 * 0.75))


def test_bleu_over_a_corpus() -> None:
    """Two questions, counts added up before dividing.

    q1 "who built the old mill" for "who built the mill": words 4 of 5, pairs 2 of 4 ("who built",
    "built the"), triples 1 of 3, fours 0 of 2. q2 "when did it burn down ?" for itself: 6 of 6,
    5 of 5, 4 of 4, 3 of 3. Lengths 11 against 10: no penalty.
    BLEU-1 = 10/11, BLEU-2 = sqrt(10/11 * 7/9), BLEU-3 = cube root(.. * 5/7),
    BLEU-4 = fourth root(.. * 3/5).
    """
    scores = score_answers(
        {"q1": "who built the old mill", "q2": "when did it burn down ?"},
        {"q1": ["who built the mill"], "q2": ["when did it burn down ?"]},
        "qg",
        meteor=False,
    )
    product = 1.0
    for order, precision in enumerate((10 / 11, 7 / 9, 5 / 7, 3 / 5), start=1):
        product *= precision
        assert scores[f"bleu_{order}"].value == pytest.approx(product ** (1 / order), abs=1e-8)


def test_bleu_clips_repeated_words_and_takes_the_closest_length() -> None:
    """ "the the the" for "the owl" and "the mill by the weir": "the" counts twice at most.

    Words 2 of 3; closest length to 3: 2 (1 away; 5 is 2 away), so no penalty: BLEU-1 = 2/3.
    """
    scores = score_answers(
        {"q": "the the the"}, {"q": ["the owl", "the mill by the weir"]}, "qg", meteor=False
    )
    assert scores["bleu_1"].value == pytest.approx(2 / 3, abs=1e-8)


def test_narrativeqa_drops_case_and_punctuation() -> None:
    """ "The KING, of Ley!" becomes "the king of ley" (4); "king of ley." becomes 3 words.

    ROUGE-L: subsequence 3, P = 3/4, R = 1, F = 2.44 * 0.75 / (1 + 1.44 * 0.75).
    BLEU-1 = 3/4; BLEU-4: pairs 2 of 3, triples 1 of 2, fours 0 of 1: zero.
    """
    scores = score_answers(
        {"q": "The KING, of Ley!"}, {"q": ["king of ley."]}, "narrativeqa", meteor=False
    )
    assert scores["rouge_l"].value == pytest.approx(2.44 * 0.75 / (1 + 1.44 * 0.75))
    assert scores["bleu_1"].value == pytest.approx(3 / 4, abs=1e-8)
    assert scores["bleu_4"].value == pytest.approx(0, abs=1e-3)
    assert scores["rouge_l"].tokenisation == "tfmrc english 1, lower-cased, without punctuation"


def test_brevity_penalty() -> None:
    """ "an owl" for "an owl flew home": BLEU-1 = BLEU-2 = exp(1 - 4/2)."""
    scores = score_answers({"q": "an owl"}, {"q": ["an owl flew home"]}, "qg", meteor=False)
    for name in ("bleu_1", "bleu_2"):
        assert scores[name].value == pytest.approx(math.exp(-1), abs=1e-8)
