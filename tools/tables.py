"""Writes the tables of results in READMEs from the JSON beside them.

    python tools/tables.py                                write every table
    python tools/tables.py add results.json TABLE ROW METRICS SYSTEM SCORE...

`results.json` holds tables: columns, and rows of a name and values. A README has the place of one
between `<!-- table: NAME -->` and `<!-- end -->`. `add` sets a row from the scores of a system in
the `metrics.json` that `tfmrc evaluate` wrote, in percent.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from tfmrc.utils import markdown

ROOT = Path(__file__).resolve().parents[1]
PLACE = re.compile(r"(<!-- table: ([\w.-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(content: dict[str, Any]) -> str:
    """Returns a table in Markdown."""
    rows = (list(map(str, row)) for row in content["rows"])
    lines = markdown.table_lines(content["columns"], rows, numbers=True)
    return "\n" + "\n".join(lines) + "\n\n"


def written(page: Path) -> str:
    """Returns a page with its tables as `results.json` beside it has them."""
    tables = json.loads((page.parent / "results.json").read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    return PLACE.sub(lambda place: f"{place[1]}{table(tables[place[2]])}{place[3]}", text)


def pages() -> list[Path]:
    """Returns the pages with results beside them."""
    return sorted(path.with_name("README.md") for path in ROOT.glob("*/**/results.json"))


def add(results: str, name: str, row: str, metrics: str, system: str, *scores: str) -> None:
    """Sets a row of a table from a `metrics.json`."""
    tables = json.loads(Path(results).read_text(encoding="utf-8"))
    found = json.loads(Path(metrics).read_text(encoding="utf-8"))["systems"][system]["scores"]
    values = [f"{100 * found[score]['value']:.2f}" for score in scores]
    rows = [old for old in tables[name]["rows"] if old[0] != row]
    tables[name]["rows"] = [*rows, [row, *values]]
    text = json.dumps(tables, ensure_ascii=False, indent=1) + "\n"
    Path(results).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["add"]:
        add(*sys.argv[2:])
    for page in pages():
        page.write_text(written(page), encoding="utf-8")
