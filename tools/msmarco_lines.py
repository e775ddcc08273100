"""Makes JSON lines of an MS MARCO file of v2.1, whose columns take a pass over the file each.

python tools/msmarco_lines.py train_v2.1.json.gz train_v2.1.jsonl.gz
"""

import json
import sys
from pathlib import Path

from tfmrc.data.formats.json_stream import json_records
from tfmrc.data.stream import Account, open_to_write


def main(source, target):
    """Writes a row per line."""
    with open_to_write(target) as file:
        for _, record in json_records(source, Account()):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
