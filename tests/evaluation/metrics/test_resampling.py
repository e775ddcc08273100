"""Bootstrap intervals and paired tests."""

import numpy as np
import pytest

from tfmrc.evaluation import (
    bootstrap,
    paired_bootstrap,
    score_answerability,
    score_answers,
    score_squad,
)

SIZE = 200


def _squad(right: int):
    answers = {n: "yes" if n < right else "no" for n in range(SIZE)}
    return score_squad(answers, {n: ["yes"] for n in range(SIZE)})["exact_match"]


def test_interval_of_a_mean_is_that_of_the_binomial():
    interval = bootstrap(_squad(120), samples=4000)
    half = 1.96 * (0.6 * 0.4 / SIZE) ** 0.5
    assert interval.value == 0.6
    assert interval.low == pytest.approx(0.6 - half, abs=0.01)
    assert interval.high == pytest.approx(0.6 + half, abs=0.01)


def test_corpus_scores_are_computed_anew_on_each_resample():
    predictions = {n: f"the old mill {n % 3}" for n in range(20)}
    references = {n: [f"the mill {n % 4} stands"] for n in range(20)}
    score = score_answers(predictions, references, rules="plain")["bleu_2"]
    drawn = np.random.default_rng(0).integers(0, 20, (1, 20))[0]
    again = score_answers(
        {place: predictions[n] for place, n in enumerate(drawn)},
        {place: references[n] for place, n in enumerate(drawn)},
        rules="plain",
    )["bleu_2"]
    only = bootstrap(score, samples=1)
    assert only.low == only.high == pytest.approx(again.value, abs=1e-9)


def test_sums_give_the_score_itself():
    answers = score_answers(
        {1: "a mill", 2: "owls fly"}, {1: ["the mill"], 2: ["owls", "they fly"]}
    )
    chances = score_answerability({1: 0.9, 2: 0.4}, {1: True, 2: False}, threshold=0.3)
    for row in [*answers.values(), *chances.values()]:
        if row.statistics is not None:
            assert row.statistics.score() == pytest.approx(row.value, abs=1e-9)


def test_paired_test_sees_a_real_difference_and_no_other():
    test = paired_bootstrap(_squad(100), _squad(140))
    assert test.difference == pytest.approx(0.2)
    assert 0.1 < test.low < 0.2 < test.high < 0.3
    assert test.p_value == pytest.approx(2 / 1001)
    same = paired_bootstrap(_squad(100), _squad(100))
    assert (same.difference, same.p_value) == (0.0, 1.0)


def test_paired_test_brings_the_ids_into_one_order():
    references = {n: ["yes"] for n in range(10)}
    answers = {n: "yes" if n < 5 else "no" for n in range(10)}
    turned = dict(reversed(answers.items()))
    one = score_squad(answers, references)["f1"]
    two = score_squad(turned, dict(reversed(references.items())))["f1"]
    assert paired_bootstrap(one, two).high == 0.0


def test_what_cannot_be_compared_is_refused():
    exact, other = _squad(3), score_squad({1: "x"}, {1: ["x"]})
    with pytest.raises(ValueError, match="differ in `name`"):
        paired_bootstrap(exact, other["f1"])
    with pytest.raises(ValueError, match="199 ids on one side only"):
        paired_bootstrap(exact, other["exact_match"])
    with pytest.raises(ValueError, match="no example to score"):
        bootstrap(score_answers({}, {})["rouge_l"])
