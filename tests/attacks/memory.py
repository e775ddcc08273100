"""Answers to texts of mixed lengths: the memory of a process is flat after the first ones."""

import gc
import random
from pathlib import Path

from tests.attacks import models
from tests.fuzz.texts import WORDS

LIMIT = 64 * 2**20
"""Bytes by which the last nine tenths of the answers may raise the memory."""


def attack(count: int, seed: int, folder: Path) -> list[str]:
    """Asks `count` questions of SAN, on 1 to 2,000 words.

    Returns:
        A sentence if the memory grows.
    """
    predictor = models.san()
    rng = random.Random(seed)
    sizes = [resident()]
    for tenth in range(10):
        for _ in range(count // 10):
            question = " ".join(rng.choices(WORDS, k=rng.randint(1, 30)))
            passage = " ".join(rng.choices(WORDS, k=round(10 ** rng.uniform(0, 3.3))))
            predictor.answer(question=question, passages=passage)
        gc.collect()
        sizes.append(resident())
        print(f"{(tenth + 1) * count // 10:,} answers: {sizes[-1] / 2**20:,.0f} MiB", flush=True)
    growth = sizes[-1] - sizes[1]
    return [f"the memory grows by {growth / 2**20:,.0f} MiB"] if growth > LIMIT else []


def resident() -> int:
    """Returns the bytes of memory that this process holds."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) * 1024
