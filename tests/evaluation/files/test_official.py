"""Official prediction formats: written, and read back."""

import codecs
import gzip
import json
from pathlib import Path

import pytest

from tfmrc.evaluation import NO_ANSWER, Prediction, read_answers, write_official

FOUND = {
    "7": Prediction("7", "the\nmill", scores={"answerable_probability": 0.75}),
    "q": Prediction("q", NO_ANSWER, scores={"answerable_probability": 0.125}),
    "r": Prediction("r", "", scores={"answerable_probability": 0.5}),
}


def test_msmarco(tmp_path: Path) -> None:
    path = write_official(FOUND, tmp_path / "candidates.json", "msmarco")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {"query_id": 7, "answers": ["the\nmill"]}
    assert lines[1]["answers"] == [NO_ANSWER]
    assert lines[2]["answers"] == []
    assert read_answers(path) == {"7": "the\nmill", "q": NO_ANSWER, "r": ""}


def test_squad(tmp_path: Path) -> None:
    path = write_official(FOUND, tmp_path / "predictions.json", "squad")
    assert read_answers(path) == {"7": "the\nmill", "q": "", "r": ""}
    chances = write_official(FOUND, tmp_path / "na.json", "squad-no-answer")
    assert json.loads(chances.read_text()) == {"7": 0.25, "q": 0.875, "r": 0.5}


def test_below_the_threshold_is_no_answer(tmp_path: Path) -> None:
    found = {
        key: Prediction(key, "x", scores={"answerable_probability": p})
        for key, p in (("a", 0.5), ("b", 0.4))
    }
    path = write_official(found, tmp_path / "candidates.json", "msmarco", threshold=0.5)
    assert read_answers(path) == {"a": "x", "b": NO_ANSWER}
    path = write_official(found, tmp_path / "squad.json", "squad", threshold=0.5)
    assert json.loads(path.read_text()) == {"a": "x", "b": ""}


def test_lines_in_a_given_order(tmp_path: Path) -> None:
    path = write_official(FOUND, tmp_path / "out.txt", "lines", order=["r", "7"])
    assert path.read_text() == "\nthe mill\n"


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Received: form='coco'"):
        write_official(FOUND, tmp_path / "x", "coco")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Received: 'z' first"):
        write_official(FOUND, tmp_path / "x", "lines", order=["7", "z"])
    with pytest.raises(ValueError, match="id='a', answerable_probability=None"):
        write_official({"a": Prediction("a", "x")}, tmp_path / "x", "squad-no-answer")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"query_id": 1, "answers": ["a", "b"]}', "line 1: a candidate has at most one answer"),
        ('{"query_id": 1, "answers": []}\n{"query_id": 1, "answers": []}', "line 2: the id occurs"),
        (
            '{"query_id": 1, "answers": []}\n{"query_id": 2}',
            "line 2: expected 'query_id' and 'answers'",
        ),
        ('{"a": ["x"]}', r"Received: 'a': \['x'\]"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_answers(path)


def test_ids_with_leading_zeros_stay(tmp_path: Path) -> None:
    ids = ["007", "7", "0", "9" * 30]
    path = write_official({key: Prediction(key, "x") for key in ids}, tmp_path / "m", "msmarco")
    assert list(read_answers(path)) == ids


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": "York"}\n{"b": "Rome"}\n', "an object from id to text is the whole file"),
        ('{"a": "York",\n"a": "Rome"}', "an id occurs twice. Received: id='a'"),
    ],
)
def test_answers_that_would_be_lost(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_answers(path)


def test_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(codecs.BOM_UTF8 + b'{"a":\n"York"}')
    assert read_answers(path) == {"a": "York"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": "é"}'.encode("latin-1"), r"run.json: the text is not UTF-8"),
        (gzip.compress(b'{"a": "York"}')[:-6], r"run.json: the compressed file is damaged"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_answers(path)
