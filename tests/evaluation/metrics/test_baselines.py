"""The two baselines without a model."""

import re

import pytest
from hypothesis import example, given, settings, strategies as st

from tests.growth import growth
from tfmrc.evaluation import first_sentence, most_similar_sentence
from tfmrc.evaluation.metrics.baselines import sentences


def test_sentences() -> None:
    text = 'Mrs. Ode said "Stop!" Then J. Ley left at 3.15 p.m. today. 12 owls flew\nA line'
    assert sentences(text) == [
        'Mrs. Ode said "Stop!"',
        "Then J. Ley left at 3.15 p.m. today.",
        "12 owls flew",
        "A line",
    ]
    assert sentences("  ") == []


def test_first_sentence() -> None:
    assert first_sentence(["  ", "One. Two."]) == "One."
    assert first_sentence([]) == ""


def test_most_similar_sentence() -> None:
    passages = ["The weir is old. Ode built the old mill.", "Ode built the old mill in spring."]
    assert most_similar_sentence("Who built the mill, Ode?", passages) == "Ode built the old mill."
    assert most_similar_sentence("Spring mill?", passages) == "Ode built the old mill in spring."
    assert most_similar_sentence("Anything?", []) == ""


def test_words_without_letters_do_not_count() -> None:
    assert most_similar_sentence("Is it so?", ["What? Why?", "It is."]) == "It is."


# The pattern as it was: quadratic in a run of punctuation.
END = re.compile(
    r"(?<!\b[A-Z])(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bMrs)(?<!\bProf)"
    r"(?:[.!?]+[\"'”’)\]]*)(?=\s+[\"'“‘(\[]*[^\s\d\W_a-z]|\s+\d|\s*$)"
)


@settings(max_examples=200)
@given(st.text(alphabet="AbMr.!? \"(')1\n\té", max_size=30))
@example("Mr.. Then Mr. Ode A. B! c? D.) E.")
def test_sentences_are_those_of_one_pattern(text: str) -> None:
    expected = []
    for line in text.splitlines():
        start = 0
        for match in END.finditer(line):
            expected.append(line[start : match.end()].strip())
            start = match.end()
        expected.append(line[start:].strip())
    assert sentences(text) == [sentence for sentence in expected if sentence]


@pytest.mark.parametrize("piece", ["!", '."', " ", ". ("])
def test_time_of_sentences_is_linear(piece: str) -> None:
    assert growth(sentences, lambda n: piece * n + "a", 2000) < 8
