"""Stems of inflected words, by hand."""

import pytest

from tfmrc.text.words.stems import light_stems

GROUPS = {
    "plan": "plan plans planned planning",
    "mak": "make makes making",
    "citi": "city cities",
    "carri": "carry carries carried",
    "need": "need needs needed needing",
    "cal": "call calls called",
    "café": "café cafés",
    "owl": "owl owls",
}


def stems(words):
    return [stem.decode() for stem in light_stems(words).numpy()]


@pytest.mark.parametrize("stem", GROUPS)
def test_forms_of_a_word_have_one_stem(stem):
    assert set(stems(GROUPS[stem].split())) == {stem}


def test_other_words_stay_as_they_are():
    words = "is was us gas boss king bed need speed 1990s 's s 12 . 鳥 " + "x" * 9
    assert stems(words.split()) == words.split()
    assert stems(["during", "alias"]) == ["dur", "alia"]  # no dictionary
    assert stems([]) == []


def test_a_long_word_takes_one_pass():
    assert stems(["ed" * 200_000, "s" * 200_000]) == ["ed" * 199_999, "s" * 200_000]
