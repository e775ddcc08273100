"""Sizes by the command line, formats by their beginnings."""

import json

import pytest

from tests.data.builders import (
    QAPS,
    SUMMARIES,
    dream,
    marco_columns,
    marco_records,
    squad,
    write,
)
from tfmrc.data import Example, RecordError, write_examples
from tfmrc.data.formats.detect import file_format, read_file
from tfmrc.data.statistics import main


@pytest.fixture
def files(tmp_path):
    (tmp_path / "third_party/wikipedia").mkdir(parents=True)
    write(tmp_path / "third_party/wikipedia/summaries.csv", SUMMARIES)
    write_examples(tmp_path / "examples.jsonl", [Example(n, "Why?", ("So.",)) for n in "123"])
    lines = "".join(json.dumps(record) + "\n" for record in marco_records())
    return {
        "squad": [write(tmp_path / "squad.json", squad())],
        "msmarco": [
            write(tmp_path / "marco.json.gz", marco_columns()),
            write(tmp_path / "marco.jsonl", lines),
        ],
        "narrativeqa": [write(tmp_path / "qaps.csv", QAPS)],
        "dream": [write(tmp_path / "dream.json", b"\xef\xbb\xbf" + json.dumps(dream()).encode())],
        "examples": [tmp_path / "examples.jsonl"],
    }


def test_formats_are_told_by_their_beginnings(files):
    for name, paths in files.items():
        for path in paths:
            assert file_format(path) == name
            assert len(list(read_file(path))) in (3, 4)


def test_the_folder_of_the_sizes_is_created_and_what_cannot_be_written_is_an_error(
    files, tmp_path, capsys
):
    path = str(files["squad"][0])
    assert main([path, "--json", str(tmp_path / "new/folder/sizes.json")]) == 0
    assert json.loads((tmp_path / "new/folder/sizes.json").read_text())[path]["questions"] == 4
    assert main([path, "--json", str(tmp_path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")


def test_the_command_prints_and_writes_the_sizes(files, tmp_path, capsys):
    paths = [str(path) for paths in files.values() for path in paths]
    assert main([*paths, "--json", str(tmp_path / "sizes.json")]) == 0
    printed = capsys.readouterr().out
    assert f"| {paths[1]} | 4 | 2 | 1 | 2 | 0 | 8 |" in printed
    sizes = json.loads((tmp_path / "sizes.json").read_text())
    counts = {name.rsplit("/", 1)[1]: (c["questions"], c["groups"]) for name, c in sizes.items()}
    assert counts == {
        "squad.json": (4, 2),
        "marco.json.gz": (4, 0),
        "marco.jsonl": (4, 0),
        "qaps.csv train": (2, 1),
        "qaps.csv valid": (1, 1),
        "dream.json": (3, 2),
        "examples.jsonl": (3, 0),
    }
    squad_counts = sizes[paths[0]]
    assert squad_counts["answerable"] == 3 and squad_counts["unanswerable"] == 1
    assert squad_counts["answers"] == {"span": 4}
    assert squad_counts["answer_words"] == {"span": 2 + 1 + 2}


def test_triplets_and_their_mean_lengths(tmp_path, capsys):
    examples = [
        Example("1", "Who flew?", ("An owl flew.", "It slept."), {"a": ("An owl", "owl")}),
        Example("2", "Why, then?", ("So.",), {"a": ("It",), "b": ("It was so",)}),
        Example("3", "When did all of this begin?", ("Long before the owls came here.",)),
    ]
    write_examples(tmp_path / "e.jsonl", examples)
    assert main(["--triplets", str(tmp_path / "e.jsonl")]) == 0
    # Words with marks: contexts 7 + 2 + 2, questions 3 + 4 + 4, first references 2 + 1 + 3. The
    # question without an answer is no triplet.
    assert "e.jsonl | 3 | 3.7 | 3.7 | 2.0 |" in capsys.readouterr().out


def test_the_command_says_what_is_wrong(tmp_path, capsys):
    content = squad()
    content["data"][0]["paragraphs"][0]["qas"][0]["question"] = ""
    path = str(write(tmp_path / "a.json", content))
    assert main([path]) == 1
    assert "id 'h1': question: must not be blank" in capsys.readouterr().err
    assert main([path, "--skip"]) == 0
    printed = capsys.readouterr()
    assert "1 broken records skipped" in printed.err and "| 3 | 2 |" in printed.out
    assert main([str(tmp_path / "nothing.json")]) == 1


@pytest.mark.parametrize("content", ["", "hello", '{"a": 1}', "a,b\n1,2\n"])
def test_unknown_formats(tmp_path, content):
    with pytest.raises(RecordError, match="no known format"):
        file_format(write(tmp_path / "a", content))


def test_questions_without_summaries(tmp_path):
    with pytest.raises(RecordError, match=r"needs one of .*summaries\.csv"):
        read_file(write(tmp_path / "qaps.csv", QAPS))
