"""The MS MARCO reader: subsets, styles, errors; lines of the official columns."""

import json
import runpy
from functools import partial
from pathlib import Path

import pytest

from tests.data.builders import assert_named_or_skipped, marco_columns, marco_records, write
from tfmrc.data import RecordError, read_msmarco

MAIN = runpy.run_path(str(Path(__file__).parents[3] / "tools" / "msmarco_lines.py"))["main"]


@pytest.fixture
def read(tmp_path):
    """Returns a function that writes records and reads them."""

    def read(records, **options):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        return read_msmarco(write(tmp_path / "a.jsonl", lines), **options)

    return read


def test_examples(read):
    both, one, none, empty = read(marco_records())
    assert both.id == "11" and both.question == "what do herons eat"
    assert both.query_type == "ENTITY" and both.group is None
    assert both.passages == tuple(f"Passage {n} on herons." for n in range(3))
    assert both.relevance == (False, True, False)
    assert both.answers == {"qa": ("Small fish", "Fish"), "nlg": ("Herons eat small fish.",)}
    assert both.answerable is True
    assert one.answers == {"qa": ("About 90 cm",)}
    assert (none.answers, none.answerable) == ({}, False)
    assert (empty.answers, empty.answerable) == ({}, False)


@pytest.mark.parametrize(
    ("subset", "ids"), [("ALL", "11 12 13 14"), ("ANS", "11 12"), ("NLG", "11")]
)
def test_subsets_and_styles(read, subset, ids):
    stream = read(marco_records(), subset=subset)
    assert [example.id for example in stream] == ids.split()
    assert sum(stream.account.notes.values()) == 4 - len(ids.split())
    first = next(iter(read(marco_records(), subset=subset, styles=("qa",))))
    assert first.answers == {"qa": ("Small fish", "Fish")}, "the subset knows the other style"


def test_missing_fields(read):
    """The evaluation file has no answers, v1.1 no well-formed ones."""
    records = marco_records()
    for record in records:
        del record["wellFormedAnswers"]
    assert [example.answerable for example in read(records)] == [True, True, False, False]
    for record in records:
        del record["answers"]
        for passage in record["passages"]:
            del passage["is_selected"]
    for example in read(records):
        assert (example.answers, example.answerable, example.relevance) == ({}, None, None)


def test_blank_and_odd_values(read):
    records = marco_records()
    records[0]["answers"] = [" ", "Fish"]
    records[1]["answers"] = [""]
    records[1]["passages"][1]["passage_text"] = " "
    records[2]["wellFormedAnswers"] = ["The village owns the pond."]
    records[3]["passages"][0]["is_selected"] = -1
    stream = read(records)
    first, second, third, fourth = stream
    assert first.answers["qa"] == ("Fish",)
    assert (second.answers, second.answerable) == ({}, None)
    assert second.passages[1] == " " and second.relevance == (True, True)
    assert third.answers == {"nlg": ("The village owns the pond.",)} and third.answerable
    assert fourth.relevance is None
    assert stream.account.notes == {
        "queries with blank qa answers": 2,
        "queries with blank passages": 1,
    }


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("query", lambda r: r.update(query=" ")),
        ("passage_text", lambda r: r["passages"][0].pop("passage_text")),
        ("answers", lambda r: r.update(answers="Fish")),
        ("id", lambda r: r.update(query_id=11)),
    ],
)
def test_a_broken_record_is_named_or_skipped(read, field, change):
    records = marco_records()
    change(records[1])
    assert_named_or_skipped(partial(read, records), "line 2", field, ["11", "13", "14"])


def test_lines_of_columns(tmp_path, read):
    source = write(tmp_path / "a.json.gz", marco_columns())
    assert list(read_msmarco(source)) == list(read(marco_records()))
    MAIN(source, tmp_path / "b.jsonl.gz")
    assert list(read_msmarco(tmp_path / "b.jsonl.gz")) == list(read(marco_records()))
    content = marco_columns()
    del content["answers"], content["wellFormedAnswers"]
    MAIN(write(tmp_path / "c.json", content), tmp_path / "c.jsonl")
    assert [example.answerable for example in read_msmarco(tmp_path / "c.jsonl")] == [None] * 4
    content["query"] = dict(reversed(content["query"].items()))
    with pytest.raises(RecordError, match="the columns differ in their rows"):
        MAIN(write(tmp_path / "d.json", content), tmp_path / "d.jsonl")
    assert not (tmp_path / "d.jsonl").exists()


def test_rows_of_the_hub_have_passages_as_a_dict_of_lists(read):
    records = marco_records()
    for record in records:
        names = record["passages"][0]
        record["passages"] = {n: [passage[n] for passage in record["passages"]] for n in names}
    assert list(read(records)) == list(read(marco_records()))
    records[0]["passages"]["is_selected"].pop()
    with pytest.raises(RecordError, match="passages: lists differ in length"):
        list(read(records))
