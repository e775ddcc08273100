"""The table of `make coverage`."""

import json
from pathlib import Path

import pytest

from tests.coverage_of_rooms import COUNTS, STRICT, main


def report(folder: Path, **covered: int) -> str:
    """A report of rooms of 80 lines, of which so many ran, and 20 branches, which all ran."""
    files = {
        f"tfmrc/{room}/a/b.py": {"summary": dict(zip(COUNTS, (80, lines, 20, 20), strict=True))}
        for room, lines in covered.items()
    }
    files["tfmrc/cli.py"] = {"summary": dict(zip(COUNTS, (10, 5, 0, 0), strict=True))}
    path = folder / "report.json"
    path.write_text(json.dumps({"files": files}))
    return str(path)


def test_each_room_has_its_bar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = dict.fromkeys(STRICT, 76)
    assert main(report(tmp_path, **good)) == 0
    said = capsys.readouterr().out
    assert (
        "| ops | 80 | 95.0 | 20 | 100.0 |" in said and "| tfmrc | 10 | 50.0 | 0 | 100.0 |" in said
    )
    assert main(report(tmp_path, **{**good, "text": 74})) == 1
    assert "text: 92.5 percent, below 95" in capsys.readouterr().out
    assert main(report(tmp_path, **{**good, "models": 10, "cli": 60})) == 1
    assert "all: 81.7 percent, below 90" in capsys.readouterr().out
    del good["losses"]
    with pytest.raises(KeyError):
        main(report(tmp_path, **good))
