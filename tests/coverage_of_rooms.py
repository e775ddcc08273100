"""Prints how much of each room the tests run, from coverage.py's JSON report (`make coverage`).

    python -m tests.coverage_of_rooms .coverage/report.json

Counts lines and branches together, as coverage.py does with branches on. Ends with status 1 if a
room of `STRICT` is below 95 percent, or the whole below 90.
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


def share(counts: Mapping[str, int]) -> float:
    """Returns the percentage of lines and branches that ran."""
    every = counts["num_statements"] + counts["num_branches"]
    return 100 * (counts["covered_lines"] + counts["covered_branches"]) / max(1, every)


def failures(counted: Mapping[str, Mapping[str, int]], whole: Mapping[str, int]) -> list[str]:
    """Returns a line for each room, and for the whole, that is below its bar."""
    low = [
        f"{room}: {share(counted[room]):.1f} percent, below {ROOM:g}"
        for room in STRICT
        if share(counted[room]) < ROOM
    ]
    return low + [f"all: {share(whole):.1f} percent, below {WHOLE:g}"] * (share(whole) < WHOLE)


def main(path: str) -> int:
    """Prints the table of a report; returns 1 if a bar is missed."""
    counted = rooms(json.loads(Path(path).read_text(encoding="utf-8")))
    whole: Counter[str] = Counter()
    for counts in counted.values():
        whole.update(counts)
    print("| room | lines | branches | percent |\n| --- | ---: | ---: | ---: |")
    for room, counts in [*sorted(counted.items()), ("all", whole)]:
        lines, branches = counts["num_statements"], counts["num_branches"]
        print(f"| {room} | {lines:,} | {branches:,} | {share(counts):.1f} |")
    low = failures(counted, whole)
    print("".join(f"\n{line}" for line in low))
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
