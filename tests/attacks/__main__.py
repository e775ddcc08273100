"""`python -m tests.attacks`: prints the outcomes, and ends with status 1 if one is wrong."""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from tests import fresh_python

COUNTS = {"files": 10_000, "kills": 20, "disks": 6, "threads": 10_000}
"""Modules of attacks, and their `count` unless `--count` is given."""


def main() -> int:
    """Runs the attacks, each in a process of its own."""
    parser = argparse.ArgumentParser(description="Attacks, repeatable by their seed.")
    parser.add_argument("--only", choices=COUNTS)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.only is None:
        commands = [[sys.executable, "-m", "tests.attacks", "--only", name] for name in COUNTS]
        return max(
            subprocess.run(
                [*command, *sys.argv[1:]], env=fresh_python.environment(), check=False
            ).returncode
            for command in commands
        )
    count = COUNTS[options.only] if options.count is None else options.count
    attack: Callable[[int, int, Path], list[str]]
    attack = import_module(f"tests.attacks.{options.only}").attack
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        wrong = attack(count, options.seed, Path(folder))
    minutes = (time.monotonic() - began) / 60
    print("\n".join(wrong[:50]))
    print(
        f"{options.only}: count {count:,}, seed {options.seed}, {minutes:.1f} minutes, "
        f"{len(wrong)} wrong outcomes",
        flush=True,
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
