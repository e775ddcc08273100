"""Sizes of official files beside the papers' counts."""

import json

from recipes.dataset_sizes.main import main
from recipes.reproduction.main import find_runs, read_tables, state_of
from tests.data.builders import QAPS, SUMMARIES, marco_lines, squad, write


def test_narrativeqa_by_set(tmp_path, capsys):
    write(tmp_path / "summaries.csv", SUMMARIES)
    path = write(tmp_path / "qaps.csv", QAPS)
    run = tmp_path / "runs" / "narrativeqa"
    files = [f"{split}={path}" for split in ("train", "valid")]
    assert main(["narrativeqa", *files, "--run", str(run)]) == 0
    scores = json.loads((run / "metrics.json").read_text())["systems"]["sizes_of_narrativeqa"]
    train = scores["scores"]["train_questions"]
    assert train["value"] == QAPS.count(",train,") and train["unit"] == "count"
    said = capsys.readouterr().out
    assert "32,747" in said and said == (run / "report.md").read_text() + "\n"
    [table] = [table for table in read_tables() if table.id == "masque-t1"]
    state = state_of(table, find_runs([tmp_path / "runs"]))
    assert state.state == "run on less data"
    assert state.results[0].figures["train_questions"] == train["value"]


def test_squad_and_msmarco(tmp_path):
    path = write(tmp_path / "squad.json", squad())
    assert main(["squad", f"train={path}", "--run", str(tmp_path / "s")]) == 0
    scores = json.loads((tmp_path / "s" / "metrics.json").read_text())["systems"]
    counts = {k: v["value"] for k, v in scores["sizes_of_squad"]["scores"].items()}
    assert (counts["train_questions"], counts["train_answerable"]) == (4, 3)
    path = write(tmp_path / "marco.jsonl", marco_lines())
    assert main(["msmarco", f"dev={path}", "--run", str(tmp_path / "m")]) == 0
    assert "101,093" in (tmp_path / "m" / "report.md").read_text()
