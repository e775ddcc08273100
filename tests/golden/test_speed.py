"""10,000 answers of MS MARCO's size are scored in seconds."""

import random
import time

from tfmrc.evaluation import score_answers

WORDS = [f"word{number}" for number in range(2000)]


def test_ten_thousand_answers() -> None:
    chance = random.Random(0)
    references = {
        n: [" ".join(chance.choices(WORDS, k=chance.randint(1, 28))) for _ in range(1 + n % 2)]
        for n in range(10_000)
    }
    predictions = {
        n: " ".join(word for word in texts[0].split() if chance.random() < 0.8)
        for n, texts in references.items()
    }
    start = time.perf_counter()
    scores = score_answers(predictions, references)
    seconds = time.perf_counter() - start
    assert scores["rouge_l"].size == 10_000
    assert 0.8 < float(scores["rouge_l"]) < 0.95
    assert seconds < 60, f"{seconds:.1f} s for 10,000 answers"
