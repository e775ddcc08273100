"""Scoring takes time in proportion to the number of answers."""

import random

from tests.growth import growth
from tfmrc.evaluation import Scores, score_answers

WORDS = [f"word{number}" for number in range(2000)]


def test_time_is_linear_in_the_answers() -> None:
    def answers(size: int) -> tuple[dict[int, str], dict[int, list[str]]]:
        chance = random.Random(0)
        references = {
            n: [" ".join(chance.choices(WORDS, k=chance.randint(1, 28))) for _ in range(1 + n % 2)]
            for n in range(size)
        }
        predictions = {
            n: " ".join(word for word in texts[0].split() if chance.random() < 0.8)
            for n, texts in references.items()
        }
        return predictions, references

    def score(sides: tuple[dict[int, str], dict[int, list[str]]]) -> Scores:
        return score_answers(*sides)

    scores = score(answers(2000))
    assert scores["rouge_l"].size == 2000
    assert 0.8 < float(scores["rouge_l"]) < 0.95
    assert growth(score, answers, 200) < 8
