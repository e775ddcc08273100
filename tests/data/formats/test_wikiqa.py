"""The WikiQA reader: pages and labels."""

import pytest

from tests.data.builders import write
from tfmrc.data import read_wikiqa
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
