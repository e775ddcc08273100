"""The shipped corpus: equal to the generator's output, consistent, of no use to a blind model."""

import json
import re
import runpy
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tfmrc.data import load_corpus

PROGRAM = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "corpus.py"))
SPLITS, STYLES, WORDS, WORLD = (PROGRAM[n] for n in ("SPLITS", "STYLES", "WORDS", "WORLD"))
KNOWN_WORDS = set(re.findall(r"[a-z]+", json.dumps(WORLD).lower()))


@pytest.fixture(scope="module")
def corpus():
    return {split: list(load_corpus(split)) for split in SPLITS}


@pytest.fixture(scope="module")
def counts(corpus):
    """Counts each word in each split."""
    return {
        split: Counter(w for e in examples for w in words_of(e))
        for split, examples in corpus.items()
    }


@pytest.fixture(scope="module")
def every_example(corpus):
    return [example for examples in corpus.values() for example in examples]


def words_of(example):
    references = [text for answers in example.answers.values() for text in answers]
    return re.findall(r"\w+", " ".join([example.question, *example.passages, *references]).lower())


def is_name(word):
    return word not in KNOWN_WORDS and not word.isdigit()


def holds(text, phrase):
    return re.search(rf"\b{re.escape(phrase.lower())}\b", text.lower()) is not None


# === Files ===


def test_the_generator_makes_the_shipped_files(corpus):
    assert PROGRAM["generate_corpus"]() == corpus


# === What an example is ===


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


# === Splits ===


def test_no_name_of_one_split_is_a_name_of_another(counts):
    names = {split: set(filter(is_name, words)) for split, words in counts.items()}
    assert all(len(result) > 500 for result in names.values())
    for split in ("dev", "test"):
        assert not names[split] & names["train"]
    assert not names["dev"] & names["test"]


# === Blind guesses ===


def question_features(example):
    """Returns the input of a model without the passages, without the names."""
    kind = next(kind for kind in WORLD["kinds"] if holds(example.question, kind))
    form = "of" if re.search(rf"{kind} of", example.question.lower()) else "before"
    opening = " ".join(example.question.lower().split()[:3])
    return [example.query_type, kind, (kind, example.query_type), opening, form]


def passage_features(example):
    """Returns the input of a model without the question: the facts, their things and counts."""
    kinds = [kind for kind in WORLD["kinds"] for text in example.passages if holds(text, kind)]
    length = sum(len(text) for text in example.passages)
    return [len(example.passages), tuple(sorted(Counter(kinds).items())), length // 50]


@pytest.mark.parametrize("preprocessor", [question_features, passage_features])
def test_blind_guesses_of_answerability_are_weak(corpus, preprocessor):
    seen = defaultdict(Counter)
    for example in corpus["train"]:
        for position, feature in enumerate(preprocessor(example)):
            seen[position, feature][example.answerable] += 1
    for position in range(len(preprocessor(corpus["test"][0]))):
        right = 0
        for example in corpus["test"]:
            counts = seen[position, preprocessor(example)[position]]
            right += (counts[True] >= counts[False]) == example.answerable
        assert right / len(corpus["test"]) < 0.6
