"""The tables of results in READMEs are those that `tools/tables.py` writes."""

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "tools" / "tables.py"
spec = importlib.util.spec_from_file_location("tables", SCRIPT)
assert spec is not None and spec.loader is not None
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)


@pytest.mark.parametrize("page", tables.pages(), ids=lambda page: page.parent.name)
def test_tables_are_those_of_the_results(page):
    results = json.loads((page.parent / "results.json").read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    assert {place[2] for place in tables.PLACE.finditer(text)} == set(results)
    assert tables.written(page) == text
    for content in results.values():
        assert {len(row) for row in content["rows"]} == {len(content["columns"])}


def test_a_row_from_the_metrics_of_a_run(tmp_path):
    results, metrics = tmp_path / "results.json", tmp_path / "metrics.json"
    results.write_text(json.dumps({"squad": {"columns": ["", "F1"], "rows": [["SAN", "1"]]}}))
    metrics.write_text(json.dumps({"systems": {"san": {"scores": {"f1": {"value": 0.73321}}}}}))
    tables.add(str(results), "squad", "SAN", str(metrics), "san", "f1")
    assert json.loads(results.read_text())["squad"]["rows"] == [["SAN", "73.32"]]
