"""Selects the passages of a text that are nearest to a question."""

import math
from collections.abc import Sequence

from tfmrc.data.transforms.sentences import words


def nearest_passages(question: str, passages: Sequence[str], count: int) -> list[int]:
    """Selects the passages with the most words in common with a question.

    A passage scores ``log(1 + N / n)`` for each distinct word of the question that it contains,
    where ``n`` of the ``N`` passages contain the word. Words are compared in lower case. Of equal
    passages the first is selected.

    Args:
        question: str. The question.
        passages: sequence of str. The passages of one text.
        count: int. The largest number of passages.

    Returns:
        Their indices, in the order of the text.

    Example:

    >>> nearest_passages("Who met Ada?", ["The owl flew.", "Ada slept.", "A cat met Ada."], 2)
    [1, 2]
    """
    held = [_words(passage) for passage in passages]
    scores = [0.0] * len(held)
    for word in sorted(_words(question)):
        holders = [index for index, own in enumerate(held) if word in own]
        for index in holders:
            scores[index] += math.log(1 + len(held) / len(holders))
    ranked = sorted(range(len(held)), key=lambda index: (-scores[index], index))
    return sorted(ranked[:count])


def _words(text: str) -> set[str]:
    """Returns the distinct words of a text in lower case, without punctuation."""
    forms = (text[start:end].lower() for start, end in words(text))
    return {word for word in forms if any(character.isalnum() for character in word)}
