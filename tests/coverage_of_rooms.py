"""Prints how much of each room the tests run, from coverage.py's JSON report (`make coverage`).

    python -m tests.coverage_of_rooms .coverage/report.json

Ends with status 1 if in a room of `STRICT` fewer than 95 percent of the lines or of the branches
ran, or fewer than 90 percent of all.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STRICT = ("ops", "losses", "layers", "decoding", "text", "data")
ROOM, WHOLE = 95.0, 90.0
COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def rooms(report: Mapping[str, Any]) -> dict[str, Counter[str]]:
    """Returns the counts of each package below `tfmrc`; its own files are the room "tfmrc"."""
    result: dict[str, Counter[str]] = {}
    for name, entry in report["files"].items():
        parts = Path(name).parts[Path(name).parts.index("tfmrc") :]
        room = parts[1] if len(parts) > 2 else parts[0]
        counts = {key: entry["summary"][key] for key in COUNTS}
        result.setdefault(room, Counter()).update(counts)
    return result


def shares(counts: Mapping[str, int]) -> tuple[float, float]:
    """Returns the percentages of the lines and of the branches that ran; 100 of none."""
    lines, ran, branches, taken = (counts[name] for name in COUNTS)
    return 100 * ran / lines if lines else 100.0, 100 * taken / branches if branches else 100.0


def failures(counted: Mapping[str, Mapping[str, int]], whole: Mapping[str, int]) -> list[str]:
    """Returns a line for each room, and for the whole, that is below its bar."""
    bars = [(room, counted[room], ROOM) for room in STRICT] + [("all", whole, WHOLE)]
    return [
        f"{room}: {min(shares(counts)):.1f} percent, below {bar:g}"
        for room, counts, bar in bars
        if min(shares(counts)) < bar
    ]


def main(path: str) -> int:
    """Prints the table of a report; returns 1 if a bar is missed."""
    counted = rooms(json.loads(Path(path).read_text(encoding="utf-8")))
    whole: Counter[str] = Counter()
    for counts in counted.values():
        whole.update(counts)
    print("| room | lines | percent | branches | percent |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for room, counts in [*sorted(counted.items()), ("all", whole)]:
        numbers = counts["num_statements"], counts["num_branches"]
        (lines, ran), (branches, taken) = zip(numbers, shares(counts), strict=True)
        print(f"| {room} | {lines:,} | {ran:.1f} | {branches:,} | {taken:.1f} |")
    low = failures(counted, whole)
    print("".join(f"\n{line}" for line in low))
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
