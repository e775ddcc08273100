"""Prediction files: writing, resuming, reading, and errors that name file and line."""

import fcntl
import gzip
import json
from pathlib import Path

import pytest

from tfmrc.evaluation import Prediction, PredictionWriter, read_predictions

FULL = Prediction(
    "q1",
    "Ode",
    style="qa",
    scores={"answerable_probability": 0.75, "relevance": [0.5, 0.25]},
    provenance=({"word": "Ode", "source": "passage", "mixture": [0.0, 0.25, 0.75]},),
    alternatives=("Ada",),
)


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.jsonl"
    with PredictionWriter(path) as writer:
        writer.write(FULL)
        writer.write(Prediction("q2", "größer 茶"))
    assert list(read_predictions(path).values()) == [FULL, Prediction("q2", "größer 茶")]
    assert "größer 茶" in path.read_text(encoding="utf-8")


def test_every_line_is_on_disk_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    writer = PredictionWriter(path)
    writer.write(FULL)
    assert list(read_predictions(path)) == ["q1"]
    writer.close()


def test_resuming_keeps_whole_lines_and_cuts_a_half_one(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with PredictionWriter(path) as writer:
        writer.write(FULL)
    with path.open("a") as file:
        file.write('{"id": "q2", "ans')  # killed here
    with pytest.raises(ValueError, match=r"run.jsonl, line 2: not JSON"):
        read_predictions(path)
    with PredictionWriter(path, resume=True) as writer:
        assert writer.done == {("q1", "qa")}
        writer.write(Prediction("q2", "a weir"))
    assert [p.answer for p in read_predictions(path).values()] == ["Ode", "a weir"]


def test_starting_anew_forgets(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for answer in ("one", "two"):
        with PredictionWriter(path) as writer:
            writer.write(Prediction("q", answer))
    assert read_predictions(path)["q"].answer == "two"


def test_writing_an_id_twice_is_refused(tmp_path: Path) -> None:
    with PredictionWriter(tmp_path / "run.jsonl") as writer:
        writer.write(Prediction("q", "x", style="qa"))
        writer.write(Prediction("q", "x", style="nlg"))
        with pytest.raises(ValueError, match="Received: id='q', style='nlg'"):
            writer.write(Prediction("q", "y", style="nlg"))


def test_styles_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with PredictionWriter(path) as writer:
        writer.write(Prediction("q", "Ode", style="qa"))
        writer.write(Prediction("q", "It was Ode.", style="nlg"))
    assert read_predictions(path, style="nlg")["q"].answer == "It was Ode."
    with pytest.raises(ValueError, match=r"line 2: .* in line 1 \(styles 'qa' and 'nlg'"):
        read_predictions(path)


def test_compressed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write('{"id": 5, "answer": "x"}\n\n')
    assert read_predictions(path)["5"].answer == "x"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken", r"line 2: not JSON \(.*column 2\)"),
        ('{"id": "b"}', "line 2: a prediction is an object with 'id' and 'answer'"),
        ('["b", "x"]', "line 2: a prediction is an object"),
        ('{"id": "b", "answer": null}', "line 2: 'answer' must be a string"),
        ('{"id": "b", "answer": "x", "text": "y"}', r"line 2: unknown fields .*\['text'\]"),
        ('{"id": "a", "answer": "x"}', "line 2: the id already occurs in line 1"),
        ("[" * 100_000, "line 2: not JSON that can be read"),
        ('{"id": ' + "9" * 5_000 + "}", "line 2: not JSON that can be read"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"id": "a", "answer": "x"}\n' + line + "\n")
    with pytest.raises(ValueError, match=message):
        read_predictions(path)


def test_damaged_bytes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"id": "a", "answer": "x"}\n{"id": "b", "answer": "\xed\xa0\x80"}\n')
    with pytest.raises(ValueError, match=r"run.jsonl, line 2: the text is not UTF-8"):
        read_predictions(path)
    packed = tmp_path / "run.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes())[:30])
    with pytest.raises(ValueError, match=r"run.jsonl.gz, line 1: .* damaged or cut short"):
        read_predictions(packed)


@pytest.mark.parametrize(
    "content",
    [
        '{"thesis": "four years of work"}',
        "a line\nanother",
        '{"id": "q1", "answer": "x"}\n{"id": "q2"}\n',
        '{"id": "q1", "answer": "x"}\nnotes',
        "\xff",
    ],
)
def test_what_is_no_prediction_file_is_not_resumed_and_stays_as_it_is(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match="run.jsonl"):
        PredictionWriter(path, resume=True)
    assert path.read_bytes() == content.encode("latin-1")


def test_a_whole_last_line_without_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"id": "a", "answer": "x"}\n{"id": "b", "answer": "y"}')
    with PredictionWriter(path, resume=True) as writer:
        assert writer.done == {("a", ""), ("b", "")}
        writer.write(Prediction("c", "z"))
    assert list(read_predictions(path)) == ["a", "b", "c"]


def test_every_half_line_is_recognised(tmp_path: Path) -> None:
    """Killed at any byte of the last line, inside a letter of two bytes too."""
    lines = ('{"id": "a", "answer": "x"}\n', '{"id": "b", "answer": "Größe"}\n')
    first, second = (line.encode() for line in lines)
    for length in range(len(second)):
        path = tmp_path / f"{length}.jsonl"
        path.write_bytes(first + second[:length])
        with PredictionWriter(path, resume=True) as writer:
            assert ("a", "") in writer.done
            if ("b", "") not in writer.done:
                writer.write(Prediction("b", "Größe"))
        assert path.read_bytes() == first + second


def test_a_second_writer_is_refused_and_changes_nothing(tmp_path):
    path = tmp_path / "run.jsonl"
    with PredictionWriter(path) as writer:
        writer.write(Prediction("q1", "mill"))
        with path.open("a") as file:
            file.write('{"id": "q2", "ans')  # a line that the first one is about to end
        before = path.read_bytes()
        for resume in (False, True):
            with pytest.raises(OSError, match="Another process is writing .*run.jsonl"):
                PredictionWriter(path, resume=resume)
        assert path.read_bytes() == before
    assert PredictionWriter(path, resume=True).done == {("q1", "")}


@pytest.mark.parametrize(
    ("field", "value"),
    [("style", None), ("scores", [0.5]), ("provenance", "x"), ("alternatives", "ab")],
)
def test_fields_of_a_wrong_type_are_named(tmp_path: Path, field: str, value: object) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({"id": "a", "answer": "x", field: value}) + "\n")
    with pytest.raises(ValueError, match=rf"run.jsonl, line 1: '{field}' must be"):
        read_predictions(path)


def test_a_file_that_was_replaced_before_it_was_locked_is_not_written(tmp_path, monkeypatch):
    path, other = tmp_path / "run.jsonl", tmp_path / "other.jsonl"
    lock = fcntl.flock

    def replaced(file, how):
        other.write_text("")
        other.replace(path)
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", replaced)
    with pytest.raises(OSError, match="Another process is writing"):
        PredictionWriter(path)
