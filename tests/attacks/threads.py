"""Sixteen threads on one predictor, four processes on one export: the answers of one thread."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import tfmrc
from tests import fresh_python
from tests.attacks import models

THREADS, PROCESSES = 16, 4


def attack(count: int, seed: int, folder: Path) -> list[str]:
    """Asks `count` questions of SAN, by threads and again by processes.

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
        wrong += differences(expected, parts, f"{THREADS} threads on {path.name}")
    command = [sys.executable, "-m", "tests.attacks.threads", str(exported), str(count), str(seed)]
    processes = [
        subprocess.Popen(
            [*command, str(number)], stdout=subprocess.PIPE, env=fresh_python.environment()
        )
        for number in range(PROCESSES)
    ]
    outputs = [json.loads(process.communicate()[0] or b"[]") for process in processes]
    return wrong + differences(expected, outputs, f"{PROCESSES} processes on an export")


def in_threads(predictor: Any, questions: list[dict[str, str]]) -> list[list[Any]]:
    """Returns the answers of each thread, which asks every `THREADS`-th question."""
    with ThreadPoolExecutor(THREADS) as threads:
        parts = (questions[number::THREADS] for number in range(THREADS))
        return list(threads.map(lambda part: answers(predictor, part), parts))


def answers(predictor: Any, questions: list[dict[str, str]]) -> list[list[Any]]:
    """Returns text, offsets and probability of each answer."""
    results = [predictor.answer(**question) for question in questions]
    return [[each.text, each.start, each.end, each.probability] for each in results]


def differences(expected: list[Any], parts: list[list[Any]], name: str) -> list[str]:
    wrong = []
    for number, right in enumerate(expected):
        part = parts[number % len(parts)][number // len(parts) :][:1]
        if part != [right]:
            wrong.append(f"{name}: question {number}: {part} instead of {right}")
    print(f"{name}: {len(expected):,} answers, {len(wrong)} wrong", flush=True)
    return wrong


if __name__ == "__main__":
    folder, count, seed, number = sys.argv[1:]
    part = models.questions(int(count), int(seed))[int(number) :: PROCESSES]
    print(json.dumps(answers(tfmrc.load(folder), part)))
