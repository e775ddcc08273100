"""`python -m tests.fuzz`: prints the outcomes, and ends with status 1 if one is wrong."""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzz import files, texts


def main() -> int:
    """Runs the attacks."""
    parser = argparse.ArgumentParser(description="Random attacks, repeatable by their seed.")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes, wrong = files.attack(options.files, options.seed, Path(folder))
    _say(outcomes, wrong, f"{options.files:,} mutated files, seed {options.seed}")
    words, wrong_words = texts.attack(options.texts, options.seed)
    _say(words, wrong_words, f"{options.texts:,} questions and passages, seed {options.seed}")
    return 1 if wrong or wrong_words else 0


def _say(counts: Counter[str], wrong: list[str], what: str) -> None:
    for name in sorted(counts):
        print(f"{name:<40} {counts[name]:>9,}")
    print("\n".join([*wrong[:50], f"{what}: {len(wrong)} wrong outcomes"]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
