"""The shipped corpus: equal to the generator's output, consistent, of no use to a blind model."""

import re
import runpy
from pathlib import Path

import pytest

from tfmrc.data import load_corpus

PROGRAM = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "corpus.py"))
SPLITS, STYLES, WORDS, WORLD = (PROGRAM[n] for n in ("SPLITS", "STYLES", "WORDS", "WORLD"))


@pytest.fixture(scope="module")
def corpus():
    return {split: list(load_corpus(split)) for split in SPLITS}


@pytest.fixture(scope="module")
def every_example(corpus):
    return [example for examples in corpus.values() for example in examples]


def holds(text, phrase):
    return re.search(rf"\b{re.escape(phrase.lower())}\b", text.lower()) is not None


def test_the_generator_makes_the_shipped_files(corpus):
    assert PROGRAM["generate_corpus"]() == corpus


def test_every_example_is_complete(every_example):
    assert len({example.id for example in every_example}) == len(every_example)
    for example in every_example:
        assert len(example.passages) in (3, 4)
        assert len(set(example.passages)) == len(example.passages)
        assert all(WORDS[0] <= len(text.split()) <= WORDS[1] for text in example.passages)
        assert example.answerable == any(example.relevance)
        assert set(example.answers) == (set(STYLES) if example.answerable else set())
        assert example.question.endswith("?")
        assert "{" not in " ".join([example.question, *example.passages])


def test_the_concise_answer_stands_in_the_relevant_passages_alone(every_example):
    for example in every_example:
        if example.answerable:
            (answer,) = example.answers["concise"]
            assert tuple(holds(text, answer) for text in example.passages) == example.relevance
            spans = [example.span_text(span).lower() for span in example.spans]
            assert spans == [answer.lower()] * sum(example.relevance)
