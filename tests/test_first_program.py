"""The first program of docs/training.md runs as it stands, with fewer steps."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "training.md"
# One step in place of 450, and of few examples.
SHORTER = {
    "epochs=3, steps_per_epoch=150": "epochs=1, steps_per_epoch=1",
    "batch_size=32": "batch_size=4",
}


@pytest.mark.slow
def test_the_first_program_runs(tmp_path, monkeypatch, capsys):
    section = PAGE.read_text("utf-8").split("## A first program")[1].split("\n## ")[0]
    lines = [line[4:] for line in section.splitlines() if line.startswith("    ") or not line]
    program = "\n".join(lines)
    assert len([line for line in lines if line.strip()]) <= 17
    for long, short in SHORTER.items():
        assert program.count(long) == 1, long
        program = program.replace(long, short)
    monkeypatch.chdir(tmp_path)
    exec(compile(program, str(PAGE), "exec"), {})
    described = capsys.readouterr().out
    assert re.search("(?i)relevance", described) and "answerable probability" in described
    assert (tmp_path / "savedmodels" / "first" / "1" / "saved_model.pb").is_file()
