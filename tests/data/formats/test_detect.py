"""Formats by the beginnings of files."""

import json

import pytest

from tests.data.builders import (
    QAPS,
    SUMMARIES,
    dream,
    marco_columns,
    marco_lines,
    marco_records,
    squad,
    write,
)
from tfmrc.data import Example, RecordError, read_file, write_examples
from tfmrc.data.formats.detect import file_format
from tfmrc.data.formats.wikiqa import COLUMNS

ROW = {"question": "Who?", "context": "Owl", "answers": {"text": ["Owl"], "answer_start": [0]}}


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize(
    ("name", "form", "content"),
    [
        ("squad", "a.json", squad()),
        ("triviaqa", "a.json", {"Data": [], "Domain": "Web"}),
        ("msmarco", "a.jsonl.gz", marco_lines()),
        ("msmarco", "a.json", marco_columns()),
        ("narrativeqa", "qaps.csv", QAPS),
        ("dream", "a.json", b"\xef\xbb\xbf" + json.dumps(dream()).encode()),
        ("wikiqa", "a.tsv", "\t".join(COLUMNS) + "\n"),
        ("examples", "a.jsonl", Example("1", "Why?", ("So. " * 30_000,)).to_json()),
        ("table", "a.jsonl", lines(ROW)),
        ("table", "a.json", [ROW]),
        ("squad", "a.json", squad()["data"]),
        ("squad", "a.json", squad()["data"][0]["paragraphs"]),
        ("table", "a.json", {"version": 1, "data": [ROW]}),
        ("table", "a.json", {"question": ["Who?"], "context": ["Owl"]}),
        ("msmarco", "a.jsonl", lines({"query": "who", "passages": {"passage_text": ["Owl"]}})),
        ("table", "a.csv", "question,context\nWho?,Owl\n"),
    ],
)
def test_formats(tmp_path, name, form, content):
    assert file_format(write(tmp_path / form, content)) == name


@pytest.mark.parametrize(
    ("name", "content", "seen"),
    [
        ("a", "", "begins with b''"),
        ("a", '{"a": 1}', "an object with the keys 'a'"),
        ("a", "a,b\n1,2\n", "begins with b'a,b"),
        ("a.json", json.dumps({"questions": [ROW]}, indent=1), "an object with the keys 'question"),
        ("a.json", {"id": 1, "data": ROW}, "an object with the keys 'data', 'id'"),
        ("a.json", [{"id": 1, "annotations": [ROW]}], "a list of objects with the keys 'annot"),
    ],
)
def test_unknown_formats(tmp_path, name, content, seen):
    with pytest.raises(RecordError, match=f"no known format: .*{seen}.* Needed: rows with"):
        file_format(write(tmp_path / name, content))


def test_columns_are_those_of_a_table(tmp_path):
    columns = {"question": "query", "passages": "passages"}
    assert file_format(write(tmp_path / "a.jsonl", lines(marco_records()[0])), columns) == "table"
    with pytest.raises(ValueError, match="Columns belong to a table"):
        file_format(write(tmp_path / "a.json", squad()), columns)


def test_files_are_read_with_their_options_and_further_files(tmp_path):
    (tmp_path / "third_party/wikipedia").mkdir(parents=True)
    write(tmp_path / "third_party/wikipedia/summaries.csv", SUMMARIES)
    path = write(tmp_path / "qaps.csv", QAPS)
    assert [example.group for example in read_file(path, split="train")] == ["d1", "d1"]
    write_examples(tmp_path / "a.jsonl", [Example("1", "Why?", ("So.",))])
    assert len(list(read_file(tmp_path / "a.jsonl", on_error="skip"))) == 1
    table = write(tmp_path / "a.csv", "Frage,context\nWer?,Owl\n")
    assert next(iter(read_file(table, columns={"question": "Frage"}))).question == "Wer?"
