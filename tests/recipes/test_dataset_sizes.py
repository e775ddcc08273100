"""Sizes of official files beside the papers' counts."""

import json

from recipes.dataset_sizes.main import main
from recipes.reproduction.main import find_runs, read_tables, state_of
from tests.data.builders import QAPS, SUMMARIES, write


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
