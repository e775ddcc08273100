"""The shipped handbook: its questions, and that each passage stands in its page."""

import csv
import html
import re
from collections import Counter
from pathlib import Path

import pytest

from tfmrc.data import read_table

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tfmrc" / "data" / "handbook_files"
TABLE = FOLDER / "questions.csv"
PAGES = sorted(path.name for path in (FOLDER / "pages").iterdir())


@pytest.fixture(scope="module")
def rows():
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def words(text: str) -> str:
    return " ".join(text.split())


def markdown_text(text: str) -> str:
    """Returns Markdown without the marks of headings, lists and tables."""
    return words(re.sub(r"^(#+ |- |\|[-| ]+\|$)|\|", " ", text, flags=re.MULTILINE))


def page_text(name: str) -> str:
    if name.endswith(".pdf"):  # the text that tools/handbook.py writes into it
        source = ROOT / "tools" / f"handbook_{name.removesuffix('.pdf')}.txt"
        return markdown_text(source.read_text(encoding="utf-8"))
    text = (FOLDER / "pages" / name).read_text(encoding="utf-8")
    if name.endswith(".md"):
        return markdown_text(text)
    return words(html.unescape(re.sub("<[^>]*>", " ", text)))


def test_counts(rows) -> None:
    assert list(rows[0]) == ["question", "passage", "answer", "document", "heading"]
    assert len(rows) == len({row["question"] for row in rows}) == 220
    assert sum(not row["answer"] for row in rows) == 30
    documents = Counter(row["document"] for row in rows)
    assert sorted(documents) == PAGES
    assert Counter(Path(name).suffix for name in PAGES) == {".md": 7, ".html": 3, ".pdf": 2}
    assert min(documents.values()) >= 14


def test_every_answer_is_a_quotation_from_its_passage(rows) -> None:
    assert not [row["question"] for row in rows if row["answer"] not in row["passage"]]


@pytest.mark.parametrize("name", PAGES)
def test_every_passage_stands_in_its_page(name, rows) -> None:
    text = page_text(name)
    for row in rows:
        if row["document"] == name:
            assert markdown_text(row["passage"]) in text
            assert row["heading"] in text


@pytest.mark.parametrize("name", [name for name in PAGES if name.endswith(".pdf")])
def test_pdf_files_are_small_and_embed_nothing(name) -> None:
    content = (FOLDER / "pages" / name).read_bytes()
    assert content.startswith(b"%PDF-") and len(content) <= 40_000
    assert b"/Count 2" in content and b"/FontFile" not in content


def test_read_table_takes_the_questions(rows) -> None:
    columns = {"group": "document"}
    examples = list(read_table(TABLE, columns=columns, blank_answers="none"))
    assert [example.passages for example in examples] == [(row["passage"],) for row in rows]
    assert [example.group for example in examples] == [row["document"] for row in rows]
    assert Counter(example.answerable for example in examples) == {True: 190, False: 30}
