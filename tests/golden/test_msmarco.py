"""MS MARCO's rules: own cases by hand, and the official samples where they are at hand."""

import math
from pathlib import Path

import pytest

from tfmrc.evaluation import NO_ANSWER, read_predictions, read_references, score_answers

NAMES = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l")


def _values(predictions: dict, references: dict, rules: str = "msmarco") -> list[str]:
    scores = score_answers(predictions, references, rules)
    return [f"{scores[name].value:.5f}" for name in NAMES]


def test_equal_answers_score_one() -> None:
    """As the official sample: an id whose references are an empty list is not scored."""
    references = {0: ["one two three four"], 1: ["five six seven eight", "nine"], 2: []}
    predictions = {0: "one two three four", 1: "five six seven eight"}
    assert _values(predictions, references) == ["1.00000"] * 5


def test_an_empty_answer_scores_zero() -> None:
    """As the official sample: the only scored question has an empty list of answers."""
    assert _values({0: "", 1: "b"}, {0: ["a"], 1: []}) == ["0.00000"] * 5


def test_abstentions_by_hand() -> None:
    """Five questions as in the official sample: two scored under the rules that give its figures.

    - q1 "ley3" for "ley2" or "ley2 weir": nothing in common.
    - q2 "old mill" (2 words) for "the mill burned in a dry spring ." (8 words): one in common.
    - q3 abstains although there is an answer; q4, q5 have no reference answer.

    ROUGE-L of q2: P = 1/2, R = 1/8, F = 2.44 P R / (R + 1.44 P); the mean is over q1 and q2.
    BLEU-1: 1 of 3 words, closest reference lengths 1 and 8: 1/3 * exp(1 - 9/3).
    Strict: q3 counts as an empty answer to "a bulb" (2 words): means over three, exp(1 - 11/3).
    """
    references = {
        "q1": ["ley2", "ley2 weir"],
        "q2": ["the mill burned in a dry spring."],
        "q3": ["A bulb"],
        "q4": [NO_ANSWER],
        "q5": [NO_ANSWER, NO_ANSWER],
    }
    predictions = {"q1": "ley3", "q2": "Old mill", "q3": NO_ANSWER, "q4": "x", "q5": "y"}
    precision, recall = 1 / 2, 1 / 8
    rouge = 2.44 * precision * recall / (recall + 1.44 * precision)
    scores = score_answers(predictions, references)
    assert scores["rouge_l"].value == pytest.approx(rouge / 2)
    assert scores["bleu_1"].value == pytest.approx(math.exp(-2) / 3, abs=1e-8)
    assert scores["bleu_2"].value == pytest.approx(0, abs=1e-8)
    assert scores.counts == {"missing": 0, "unused": 0, "unanswerable": 2, "abstained": 1}
    strict = score_answers(predictions, references, "msmarco-strict")
    assert strict["rouge_l"].value == pytest.approx(rouge / 3)
    assert strict["bleu_1"].value == pytest.approx(math.exp(1 - 11 / 3) / 3, abs=1e-8)
    # The decision to answer: q1, q2 right, q3 missed, q4, q5 wrongly answered.
    for found in (scores, strict):
        assert found["answerable_precision"].value == pytest.approx(2 / 4)
        assert found["answerable_recall"].value == pytest.approx(2 / 3)
        assert found["answerable_f1"].value == pytest.approx(4 / 7)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("same_answer_test", ["1.00000"] * 5),
        ("no_answer_test", ["0.00000"] * 5),
        ("sample", ["0.00852", "0.00000", "0.00000", "0.00000", "0.03093"]),
    ],
)
def test_official_samples(shared_data: Path, sample: str, expected: list[str]) -> None:
    folder = shared_data / "msmarco_eval"
    found = read_references(folder / f"{sample}_references.json")
    references = {key: reference.answers for key, reference in found.items()}
    candidates = read_predictions(folder / f"{sample}_candidates.json").values()
    assert _values({p.id: p.answer for p in candidates}, references) == expected
