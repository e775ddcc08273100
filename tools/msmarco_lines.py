"""Makes JSON lines, which tfmrc reads, of an MS MARCO file of v2.1, one object of columns.

python tools/msmarco_lines.py train_v2.1.json.gz train_v2.1.jsonl.gz
"""

import json
import sys
from itertools import chain
from pathlib import Path

import ijson

from tfmrc.data.stream import open_binary, open_to_write

COLUMNS = ("query_id", "query", "query_type", "passages", "answers", "wellFormedAnswers")


def column(path, name):
    """Yields the row names and values of a column."""
    with open_binary(path) as file:
        yield from ijson.kvitems(file, name, use_float=True)


def main(source, target):
    """Writes a row per line. All columns are read side by side, from a file handle each."""
    columns = {}
    for name in COLUMNS:
        values = column(source, name)
        first = next(values, None)  # the evaluation file has no answers
        if first is not None:
            columns[name] = chain([first], values)
    with open_to_write(target) as file:
        for cells in zip(*columns.values(), strict=True):
            rows = {row for row, _ in cells}
            if len(rows) > 1:
                raise SystemExit(f"{source}: the columns differ in the order of rows {rows}")
            record = dict(zip(columns, (value for _, value in cells), strict=True))
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
