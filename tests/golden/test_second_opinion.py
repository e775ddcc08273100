"""Other scorers beside ours: equal where they must be, different where they are known to be."""

import random

import pytest
import sacrebleu
from hypothesis import given, settings, strategies as st
from rouge_score import rouge_scorer

from tfmrc.evaluation import score_answers

WORDS = "mill weir owl flew home built the a of in spring river".split()
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


def _scores(predictions: list[str], references: list[list[str]]):
    return score_answers(
        dict(enumerate(predictions)), dict(enumerate(references)), "qg", meteor=False
    )


@settings(deadline=None)
@given(texts, texts)
def test_rouge_score_has_the_same_precision_and_recall(prediction: str, reference: str) -> None:
    """With one reference only beta differs: 1.2 here, 1 in rouge-score."""
    other = rouge_scorer.RougeScorer(["rougeL"]).score(reference, prediction)["rougeL"]
    precision, recall = other.precision, other.recall
    total = recall + 1.44 * precision
    expected = 2.44 * precision * recall / total if total else 0.0
    value = _scores([prediction], [[reference]])["rouge_l"].value
    assert value == pytest.approx(expected)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_sacrebleu_gives_the_same_corpus_bleu(seed: int) -> None:
    """Without smoothing and without its own tokeniser, sacrebleu's BLEU-4 is BLEU-4.

    The corpus begins with an exact answer, so that no count is zero.
    """
    chance = random.Random(seed)
    predictions, references = ["the old mill burned down"], [["the old mill burned down"] * 2]
    for _ in range(20):
        first, second, answer = (chance.choices(WORDS, k=chance.randint(1, 12)) for _ in range(3))
        kept = [word for word in first if chance.random() < 0.7]
        predictions.append(" ".join(kept or answer))
        references.append([" ".join(first), " ".join(second)])
    streams = [list(stream) for stream in zip(*references, strict=True)]
    other = sacrebleu.corpus_bleu(
        predictions, streams, smooth_method="none", tokenize="none", force=True
    )
    assert _scores(predictions, references)["bleu_4"].value == pytest.approx(
        other.score / 100, abs=1e-6
    )


def test_several_references_part_the_two_rouges() -> None:
    """ "a b c d" for "a" and "a b c x y z": rouge-score takes the better of two F values."""
    prediction, references = "a b c d", ["a", "a b c x y z"]
    scorer = rouge_scorer.RougeScorer(["rougeL"])
    best = max(scorer.score(text, prediction)["rougeL"].fmeasure for text in references)
    assert best == pytest.approx(2 * 3 / (4 + 6))
    ours = _scores([prediction], [references])["rouge_l"].value
    assert ours == pytest.approx(1.83 / 2.08)


def test_tokenisers_part_the_two_bleus() -> None:
    """Uncut text: "mill." is not "mill", unless the scorer cuts it (sacrebleu's 13a does)."""
    predictions, references = ["the owl left the mill."], ["the owl left the mill ."]
    uncut = _scores(predictions, [[text] for text in references])["bleu_4"].value
    cut = sacrebleu.corpus_bleu(predictions, [references]).score / 100
    assert cut == pytest.approx(1.0)
    # Words 4 of 5, pairs 3 of 4, triples 2 of 3, fours 1 of 2, lengths 5 and 6.
    assert uncut == pytest.approx((0.8 * 0.75 * 2 / 3 / 2) ** 0.25 * 2.718281828 ** (1 - 6 / 5))
    english = score_answers(
        {0: predictions[0]}, {0: references}, "qg", tokenizer="english", meteor=False
    )
    assert english["bleu_4"].value == pytest.approx(1.0)


def test_the_corpus_score_is_not_the_mean_of_sentence_scores() -> None:
    scores = _scores(
        ["the mill", "an owl flew home in spring"], [["a mill"], ["owls fly south in spring"]]
    )
    row = scores["bleu_1"]
    assert row.per_example is not None
    mean = sum(row.per_example.values()) / 2
    assert row.value == pytest.approx(3 / 8, abs=1e-8)  # (1 + 2) of (2 + 6) words
    assert mean == pytest.approx((1 / 2 + 2 / 6) / 2, abs=1e-6)
