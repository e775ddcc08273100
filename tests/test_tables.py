"""Tables of results and the pages of reference are those that the scripts in tools/ write."""

import importlib.util
import json
from pathlib import Path

import pytest

import tfmrc

TOOLS = Path(__file__).parents[1] / "tools"


def script(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tables = script("tables")


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


def test_the_reference_has_every_room_command_and_setting(tmp_path):
    reference = script("reference")
    rooms = {name for name in tfmrc.__all__ if hasattr(getattr(tfmrc, name), "__path__")}
    assert set(reference.ROOMS) == rooms - {"integrations"}
    reference.write(tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    for named in ("## tfmrc train", "`training.steps`", "masque-05", "tfmrc.layers.DualAttention"):
        assert named in text
