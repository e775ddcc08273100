"""The shipped handbook as a folder of documents: its passages, what is found, what is answered."""

import csv
from pathlib import Path

import pytest

import tfmrc.data
from tfmrc import documents

FILES = Path(tfmrc.data.__file__).parent / "handbook_files"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("handbook") / "handbook.index"
    report = documents.index(FILES / "pages", path)
    assert (report.documents, report.left_out, dict(report.others)) == (12, {}, {})
    return path


@pytest.fixture(scope="module")
def rows():
    with (FILES / "questions.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["answer"]]


def test_the_right_page_and_heading_are_found(path, rows):
    store = documents.open_store(path)
    counts = {"page": 0, "page among 5": 0, "heading among 5": 0}
    for row in rows:
        found = store.search(row["question"], 5)
        pages = [passage.document == row["document"] for passage in found]
        headings = [passage.heading[-1:] == (row["heading"],) for passage in found]
        counts["page"] += any(pages[:1])
        counts["page among 5"] += any(pages)
        counts["heading among 5"] += any(map(all, zip(pages, headings, strict=True)))
    store.close()
    shares = {name: count / len(rows) for name, count in counts.items()}
    assert shares["page"] >= 0.7
    assert shares["page among 5"] >= 0.9
    assert shares["heading among 5"] >= 0.85


def test_every_answer_is_in_the_text_of_its_page(path, rows):
    store = documents.open_store(path)
    texts = {name: " ".join(store.document_text(name).split()) for name in store.versions()}
    store.close()
    assert not [row for row in rows if row["answer"] not in texts[row["document"]]]


def test_the_ready_reader_answers(path, without_graphs):
    questions = {
        "Who gives the briefing for the van?": ("Femi Castellan", "equipment.pdf", "The van"),
        "How many seats has the lecture hall?": ("140", "equipment.pdf", "Rooms"),
    }
    with documents.load(path) as collection:
        for question, (text, document, heading) in questions.items():
            answer = collection.answer(question=question)
            assert text in answer.text and answer.probability > 0
            assert (answer.document, answer.heading[-1]) == (document, heading)
            read = collection.document_text(document)
            assert read[answer.start : answer.end] == answer.text
            assert answer.text in answer.sentence
