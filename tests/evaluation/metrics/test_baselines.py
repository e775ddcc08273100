"""The two baselines without a model."""

import pytest

from tfmrc.evaluation import first_sentence, most_similar_sentence
from tfmrc.evaluation.metrics.baselines import sentences


def test_sentences():
    text = 'Mrs. Ode said "Stop!" Then J. Ley left at 3.15 p.m. today. 12 owls flew\nA line'
    assert sentences(text) == [
        'Mrs. Ode said "Stop!"',
        "Then J. Ley left at 3.15 p.m. today.",
        "12 owls flew",
        "A line",
    ]
    assert sentences("  ") == []


def test_first_sentence():
    assert first_sentence(["  ", "One. Two."]) == "One."
    assert first_sentence([]) == ""


def test_most_similar_sentence():
    passages = ["The weir is old. Ode built the old mill.", "Ode built the old mill in spring."]
    assert most_similar_sentence("Who built the mill, Ode?", passages) == "Ode built the old mill."
    assert most_similar_sentence("Spring mill?", passages) == "Ode built the old mill in spring."
    assert most_similar_sentence("Anything?", []) == ""


@pytest.mark.parametrize("piece", ["!", '."', " ", ". ("])
def test_long_texts(piece):
    """In quadratic time they would not end."""
    assert "".join(sentences(piece * 100_000 + "a")).endswith("a")
