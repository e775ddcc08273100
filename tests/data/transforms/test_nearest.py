"""Which passages of a text are nearest to a question."""

import pytest

from tfmrc.data.transforms.nearest import nearest_passages

PASSAGES = ["The owl flew far.", "A cat met Ada.", "The ADA computer.", "It rained."]


@pytest.mark.parametrize(
    "question, count, expected",
    [
        ("Who met Ada?", 1, [1]),  # `met` and `ada`: two words
        ("Who met Ada?", 2, [1, 2]),
        ("Ada, ada!", 1, [1]),  # equal: the first; a word counts once
        ("the rain rained", 2, [0, 3]),  # `rained` is rarer than `the`
        ("the rain rained", 1, [3]),
        ("?", 2, [0, 1]),  # nothing in common: the first
        ("Who met Ada?", 9, [0, 1, 2, 3]),
    ],
)
def test_common_words(question, count, expected):
    assert nearest_passages(question, PASSAGES, count) == expected


def test_nothing():
    assert nearest_passages("Who?", [], 3) == []
