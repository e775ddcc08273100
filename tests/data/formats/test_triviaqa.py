"""The TriviaQA reader: documents, aliases, what is left out, errors."""

from functools import partial

import pytest

from tests.data.builders import assert_named_or_skipped, write
from tfmrc.data import read_file, read_triviaqa

OWL = {
    "QuestionId": "tc_1",
    "Question": "Who flew?",
    "Answer": {"Value": "Tawny Owl", "Aliases": ["Owl", "tawny owl", "Strix (bird)"]},
    "EntityPages": [{"Filename": "Night.txt"}, {"Filename": "Gone.txt"}],
    "SearchResults": [{"Filename": "9/a.txt"}, {"Filename": "b.txt"}],
}
TEST = {"QuestionId": "tc_2", "Question": "Why?", "EntityPages": [{"Filename": "Night.txt"}]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "wikipedia").mkdir()
    (tmp_path / "web" / "9").mkdir(parents=True)
    write(tmp_path / "wikipedia" / "Night.txt", "Prowlers slept. A tawny owl flew. An owl!")
    write(tmp_path / "web" / "9" / "a.txt", "It was late. It was dark. Then a Strix (bird) came.")
    write(tmp_path / "web" / "b.txt", "Nothing flew.")
    return tmp_path


def stream(folder, records, **options):
    path = write(folder / "qa.json", {"Data": records, "Domain": "Wikipedia"})
    return read_triviaqa(path, folder, **options)


def test_first_alias_of_each_document_is_the_answer(folder):
    result = stream(folder, [OWL, TEST])
    owl, untold = result
    assert owl.id == "tc_1--Night.txt" and owl.group == "tc_1"
    assert owl.answers == {"span": ("tawny owl", "Tawny Owl")}  # not the "owl" in it, nor "Prowl"
    assert owl.span_text(owl.spans[0]) == "tawny owl" and owl.answerable is True
    assert (untold.answers, untold.answerable, untold.spans) == ({}, None, ())
    assert result.account.notes == {"documents that are not in the folder": 1}


def test_web_reads_search_results_too(folder):
    result = stream(folder, [OWL], domain="web", style="qa")
    assert [e.id for e in result] == ["tc_1--9/a.txt", "tc_1--Night.txt"]
    assert next(iter(result)).answers == {"qa": ("Strix (bird)", "Tawny Owl")}
    assert result.account.notes["documents whose beginning contains no answer"] in (0, 1)
    list(result)
    assert result.account.notes["documents whose beginning contains no answer"] == 1


@pytest.mark.parametrize(
    ("name", "web"),
    [("web-train.json", True), ("triviaqa_web_train.json", True), ("wikipedia-dev.json", False)],
)
def test_the_name_of_a_file_has_its_domain(folder, name, web):
    (folder / "qa").mkdir()
    path = write(folder / "qa" / name, {"Data": [OWL]})
    (folder / "evidence").mkdir()
    for room in ("web", "wikipedia"):
        (folder / room).rename(folder / "evidence" / room)
    expected = [*["tc_1--9/a.txt"] * web, "tc_1--Night.txt"]
    for read in (read_file(path), read_triviaqa(path, folder / "evidence")):
        assert [example.id for example in read] == expected


def test_only_the_beginning_of_a_document_is_read(folder):
    result = stream(folder, [OWL], domain="web", passage_words=4)
    assert list(result) == []
    assert result.account.notes["documents whose beginning contains no answer"] == 3


def test_broken_questions(folder):
    broken = {**OWL, "EntityPages": [{}]}
    read = partial(stream, folder, [broken, TEST])
    assert_named_or_skipped(read, "is missing", "Filename", ["tc_2--Night.txt"])


@pytest.mark.parametrize("name", ["../outside.txt", "ABSOLUTE", "x" * 5_000])
def test_a_document_outside_of_its_folder_is_not_read(folder, name):
    outside = folder / "outside.txt"
    outside.write_text("An owl was here.", encoding="utf-8")
    pages = [{"Filename": str(outside) if name == "ABSOLUTE" else name}]
    read = stream(folder, [{**OWL, "EntityPages": pages}])
    assert list(read) == []
    assert read.account.notes["documents that are not in the folder"] == 1
