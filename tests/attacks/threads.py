"""Sixteen threads on one predictor and on its export: the answers of one thread."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import tfmrc
from tests.attacks import models

THREADS = 16


def attack(count: int, seed: int, folder: Path) -> list[str]:
    """Asks `count` questions of SAN and of its export.

    Returns:
        A description of each answer that differs from that of one thread.
    """
    questions = models.questions(count, seed)
    saved = models.san().save(folder / "predictor")
    exported = tfmrc.load(saved).export(folder / "san" / "1")
    wrong = []
    for path in (saved, exported):
        expected = answers(tfmrc.load(path), questions)
        parts = in_threads(tfmrc.load(path), questions)  # the threads build its graphs
        wrong += differences(expected, parts)
        print(f"{path.name}: {count:,} answers, {len(wrong)} wrong", flush=True)
    return wrong


def in_threads(predictor: Any, questions: list[dict[str, str]]) -> list[list[Any]]:
    """Returns the answers of each thread, which asks every `THREADS`-th question."""
    with ThreadPoolExecutor(THREADS) as threads:
        parts = (questions[number::THREADS] for number in range(THREADS))
        return list(threads.map(lambda part: answers(predictor, part), parts))


def answers(predictor: Any, questions: list[dict[str, str]]) -> list[list[Any]]:
    """Returns text, offsets and probability of each answer."""
    results = [predictor.answer(**question) for question in questions]
    return [[each.text, each.start, each.end, each.probability] for each in results]


def differences(expected: list[Any], parts: list[list[Any]]) -> list[str]:
    found = [parts[number % THREADS][number // THREADS] for number in range(len(expected))]
    return [
        f"question {number}: {one} instead of {right}"
        for number, (right, one) in enumerate(zip(expected, found, strict=True))
        if one != right
    ]
