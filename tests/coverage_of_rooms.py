"""Prints how much of each room the tests run, from coverage.py's JSON report (`make coverage`).

    python -m tests.coverage_of_rooms .coverage/report.json

Ends with status 1 if in a room of `STRICT` fewer than 95 percent of the lines or of the branches
ran, or fewer than 90 percent of all.
"""

import json
import sys
from collections import Counter
from pathlib import Path

STRICT = ("ops", "losses", "layers", "decoding", "text", "data")
ROOM, WHOLE = 95.0, 90.0
COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def main(path: str) -> int:
    """Prints the table of a report; returns 1 if a bar is missed."""
    rooms: dict[str, Counter[str]] = {}
    for name, entry in json.loads(Path(path).read_text(encoding="utf-8"))["files"].items():
        parts = Path(name).parts[Path(name).parts.index("tfmrc") :]
        counts = {key: entry["summary"][key] for key in COUNTS}
        for room in (parts[1] if len(parts) > 2 else parts[0], "~all"):
            rooms.setdefault(room, Counter()).update(counts)
    print("| room | lines | percent | branches | percent |")
    print("| --- | ---: | ---: | ---: | ---: |")
    low = []
    for room, counts in sorted(rooms.items()):
        lines, ran, branches, taken = (counts[name] for name in COUNTS)
        shares = [
            100 * part / whole if whole else 100.0
            for part, whole in ((ran, lines), (taken, branches))
        ]
        print(f"| {room} | {lines:,} | {shares[0]:.1f} | {branches:,} | {shares[1]:.1f} |")
        bar = WHOLE if room == "~all" else ROOM if room in STRICT else 0.0
        if min(shares) < bar:
            low.append(f"{room}: {min(shares):.1f} percent, below {bar:g}")
    print("".join(f"\n{line}" for line in low))
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
