"""The WikiQA reader: pages, labels, errors."""

import pytest

from tests.data.builders import write
from tfmrc.data import RecordError, read_wikiqa
from tfmrc.data.formats.wikiqa import COLUMNS

ROWS = [
    ("Q1", "who flew?", "D1", "Owls", "D1-0", 'An "owl" flew.', "1"),
    ("Q1", "who flew?", "D1", "Owls", "D1-1", "It was late.", "0"),
    ("Q1", "who flew?", "D1", "Owls", "D1-2", "The owl, again.", "1"),
    ("Q2", "why?", "D2", "Cats", "D2-0", "A cat slept.", "0"),
]


def tsv(rows, columns=COLUMNS):
    return "".join("\t".join(row) + "\r\n" for row in [columns, *rows])


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_pages_in_the_form_of_squad(tmp_path, name):
    owl, cat = read_wikiqa(write(tmp_path / name, tsv(ROWS)))
    assert owl.passages == ('An "owl" flew. It was late. The owl, again.',)
    assert owl.answers == {"sentence": ('An "owl" flew.', "The owl, again.")}
    assert [owl.span_text(span) for span in owl.spans] == list(owl.answers["sentence"])
    assert (owl.id, owl.group, owl.answerable, owl.relevance) == ("Q1", "D1", True, (True,))
    assert (cat.answers, cat.spans, cat.answerable) == ({}, (), False)


def changed(position, value):
    row = [*ROWS[1]]
    row[position] = value
    return [ROWS[0], tuple(row), *ROWS[2:]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (changed(6, "2"), "line 3: Label: must be 0 or 1"),
        ([ROWS[0], ROWS[1][:5], *ROWS[2:]], "line 3: must have 7 values"),
    ],
)
def test_broken_questions(tmp_path, rows, message):
    path = write(tmp_path / "a.tsv", tsv(rows))
    with pytest.raises(RecordError, match=message):
        list(read_wikiqa(path))
    stream = read_wikiqa(path, on_error="skip")
    assert [example.id for example in stream] == ["Q2"] and stream.skipped == 1
