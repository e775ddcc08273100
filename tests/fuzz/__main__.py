"""`python -m tests.fuzz`: prints the outcomes, and ends with status 1 if one is wrong."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz import files


def main() -> int:
    """Runs the attacks."""
    parser = argparse.ArgumentParser(description="Random attacks, repeatable by their seed.")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes, wrong = files.attack(options.files, options.seed, Path(folder))
    for name in sorted(outcomes):
        print(f"{name:<40} {outcomes[name]:>9,}")
    said = f"{options.files:,} mutated files, seed {options.seed}: {len(wrong)} wrong outcomes"
    print("\n".join([*wrong[:50], said]), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
