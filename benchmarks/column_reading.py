"""Time and memory of a pass over MS MARCO's columns, in a generated file.

    python -m benchmarks.column_reading --megabytes 1050

Writes a file of this size to a temporary folder, reads it once and deletes it. Processor time is
that of the pass only; memory is the largest resident size of the process, before and after.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path

from tfmrc.data import read_msmarco

ROW = 4_300  # bytes


def write_columns(path: Path, megabytes: int) -> int:
    """Writes a file of MS MARCO's columns, row by row, and returns its number of rows."""
    rng = random.Random(1)
    words = [f"{rng.choice('bdfgklmnprst')}{rng.choice('aeiou')}{n}" for n in range(5000)]
    texts = [
        " ".join(" ".join(rng.choices(words, k=12)).capitalize() + "." for _ in range(4))
        for _ in range(2000)
    ]

    def passages(row: int) -> list[dict]:
        return [
            {
                "is_selected": int(rank == 2),
                "passage_text": rng.choice(texts),
                "url": f"http://example.org/{row}/{rank}",
            }
            for rank in range(10)
        ]

    columns = {
        "answers": lambda row: [texts[row % 2000][:60]],
        "passages": passages,
        "query": lambda row: f"what is {row}",
        "query_id": lambda row: row,
        "query_type": lambda row: "ENTITY",
        "wellFormedAnswers": lambda row: "[]",
    }
    count = megabytes * 1_000_000 // ROW
    with path.open("w", encoding="utf-8") as file:
        for begin, (name, value) in zip("{" + "," * len(columns), columns.items(), strict=False):
            file.write(f"{begin} {json.dumps(name)}: {{")
            for row in range(count):
                file.write(f'{", " if row else ""}"{row}": {json.dumps(value(row))}')
            file.write("}")
        file.write("}")
    return count


def peak() -> float:
    """Returns the largest resident size so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measures one pass."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.column_reading")
    parser.add_argument("--megabytes", type=int, default=100, help="size of the file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "columns.json")
        rows = write_columns(path, options.megabytes)
        before, began = peak(), time.process_time()
        read = sum(1 for _ in read_msmarco(path))
        seconds = time.process_time() - began
        facts = {
            "bytes": path.stat().st_size,
            "rows": rows,
            "examples": read,
            "processor_seconds": round(seconds, 1),
            "megabytes_before": round(before),
            "megabytes_after": round(peak()),
        }
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
