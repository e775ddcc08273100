"""Lines of progress: size, rate and time left."""

import pytest

from tfmrc.data.stream import open_binary
from tfmrc.utils import progress


@pytest.fixture
def clock(monkeypatch):
    """The seconds that have passed at each look at the clock."""
    seconds = iter(range(0, 1000, 8))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(seconds))


def test_examples_are_counted(clock, capsys):
    with progress.show_progress():
        assert list(progress.counted("abcd", "predicting", "examples")) == list("abcd")
    assert list(progress.counted("abcd", "predicting", "examples")) == list("abcd")
    assert capsys.readouterr().err.splitlines() == [
        "predicting: 2 of 4 examples, 0.125 a second, 0:16 left",
        "predicting: 4 of 4 examples, 0.125 a second, 0:00 left",
    ]


def test_what_has_no_known_end_is_counted_without_one(clock, capsys):
    with progress.show_progress():
        stream = progress.Progress("predicting", 0, "examples")
        stream.update(1)
        stream.update(2)
    assert capsys.readouterr().err == "predicting: 2 examples, 0.125 a second\n"


def test_a_file_is_measured_in_bytes(clock, capsys, tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b" " * 3_000_000)
    with progress.show_progress(), open_binary(path) as file:
        while file.read(1_000_000):
            continue
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith(f"reading {path}: ") and first.endswith(" left")
    assert " of 3,000 kB, " in first
