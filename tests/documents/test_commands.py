"""The commands `index`, and `answer`, `predict` and `ask` with documents."""

import csv
import json
from contextlib import nullcontext
from pathlib import Path

import pytest

import tfmrc
from tests import fresh_python
from tests.running import eagerly
from tfmrc import cli, documents, encoders, models, preprocessing
from tfmrc.cli import asking
from tfmrc.data import read_table
from tfmrc.predictors import GeneratedText, Result


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    encoder = encoders.from_vocabulary("what flew an owl ? .".split())
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(encoder=encoder)
    predictor = tfmrc.Predictor(models.ExtractiveReader(encoder=encoder), preprocessor)
    return str(predictor.save(tmp_path_factory.mktemp("reader") / "reader"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "ready"  # as the ready reader, which it is not
    folder.mkdir()
    (folder / "owls.md").write_text("# Owls\n\nAn owl flew.")
    (folder / "none.txt").touch()
    return folder


def test_a_folder_is_indexed_and_asked(folder, reader, capsys, without_graphs):
    for read in (1, 0):
        assert cli.main(["index", "ready", "--to", "owls.index"]) == 1
        printed = capsys.readouterr()
        first, left_out = printed.out.splitlines()
        assert first.startswith(f"1 documents. New or changed: {read}; ")
        assert left_out == "Left out: none.txt: has no text"
        assert "Files that are not in the index: 1." in printed.err
    asked = ["answer", reader, "--documents", "owls.index", "--question", "What flew?"]
    asked += ["--option", "min_probability=0"]
    assert cli.main(asked) == 0
    quotation, place, *_ = capsys.readouterr().out.splitlines()
    assert quotation in "An owl flew." and place.startswith("  in owls.md, Owls, characters ")
    assert cli.main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    store = documents.open_store("owls.index")
    assert store.document_text(found["document"])[found["start"] : found["end"]] == found["text"]
    store.close()


def rows_of(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def predict(reader, questions, output):
    words = ["predict", reader, "--documents", "owls.index", "--input", questions]
    with eagerly():
        return cli.main([*words, "--output", output])


def test_a_table_of_questions_is_answered_with_places(folder, reader):
    documents.index(folder, "owls.index")
    Path("q.csv").write_text("question,document\nWhat flew?,x.pdf\nA llama?,\n")
    assert predict(reader, "q.csv", "a.csv") == 0
    found, missing = rows_of("a.csv")
    with documents.load("owls.index") as collection:
        text = collection.document_text(found["document"])
    start, end = map(int, found["characters"].split("-"))
    quotation = found["answer"] or found["best_guess"]
    assert quotation == text[start:end]
    assert quotation == found["passage"][int(found["start"]) : int(found["end"])]
    assert (found["heading"], found["page"], found["sentence"]) == ("Owls", "", "An owl flew.")
    assert found["given_document"] == "x.pdf"
    assert (missing["answer"], missing["is_confident"], missing["document"]) == ("", "False", "")


def test_answers_of_changed_documents_are_computed_again(folder, reader, capsys):
    documents.index(folder, "owls.index")
    Path("q.jsonl").write_text('{"id": "7", "question": "What flew?"}\n')
    for text, again in (("An owl flew.", False), ("An eagle flew.", True)):
        (folder / "owls.md").write_text(text)
        documents.index(folder, "owls.index")
        assert predict(reader, "q.jsonl", "a.jsonl") == 0
        assert ("computed again" in capsys.readouterr().err) == again
        [line] = map(json.loads, Path("a.jsonl").read_text().splitlines())
        place = line["scores"]["document"], line["scores"]["sentence"]
        assert (line["id"], *place) == ("7", "owls.md", text)


class Asker:
    tasks = ()

    def generate_from_passage(self, passages):
        for text in passages:
            yield [
                GeneratedText(f"About {word}?", answer=word, answer_start=text.index(word))
                for word in text.split()
            ]


class Answerer:
    """Answers with the word that was asked about, but for some."""

    def predict(self, queries):
        for query in queries:
            word = query["question"][6:-1]
            assert word in query["passages"][0]
            yield Result("elk" if word == "An" else word, is_confident=word != "flew.")


def test_questions_about_documents_are_a_table_to_train_on(folder, capsys, monkeypatch):
    monkeypatch.setattr(asking, "loaded", lambda *_: nullcontext((Asker(), {})))
    monkeypatch.setattr("tfmrc.predictors.load.load", lambda name: {"ready": Answerer()}[name])
    (folder / "copy.md").write_text("# Eagles\n\nAn owl flew.")
    documents.index(folder, "owls.index")
    assert cli.main(["ask", "x", "--documents", "owls.index", "--output", "q.csv"]) == 0
    assert "3 questions about 1 passages; kept: 1," in capsys.readouterr().err
    [row] = rows_of("q.csv")
    assert (row["document"], row["heading"]) == ("copy.md", "Eagles")
    [example] = read_table("q.csv")
    assert (example.question, example.answers["span"]) == ("About owl?", ("owl",))
    assert (example.spans[0].start, example.group) == (3, "copy.md")


WITHOUT_TENSORFLOW = """
import sys
from tfmrc import cli
print(cli.main(["index", sys.argv[1], "--to", sys.argv[1] + ".index"]), "tensorflow" in sys.modules)
"""


def test_an_index_is_made_without_tensorflow(folder):
    assert fresh_python.run("-c", WITHOUT_TENSORFLOW, folder).splitlines()[-1] == "1 False"


@pytest.mark.parametrize(
    "words, message",
    [
        (["index", "nowhere", "--to", "x"], "nowhere is not a folder"),
        (["answer", "--question", "?", "--documents", "no.index"], "There is no index no.index"),
        (
            ["predict", "--input", "q", "--documents", "x", "--engine", "ray", "--output", "y"],
            "no --documents and no --runtime",
        ),
        (
            ["predict", "--input=q", "--runtime=openvino", "--engine=ray", "--output=y"],
            "no --documents and no --runtime",
        ),
    ],
)
def test_wrong_use_is_named(folder, words, message, capsys, monkeypatch):
    monkeypatch.setattr("tfmrc.predictors.ready.shipped.ready_folder", lambda name: folder)
    assert cli.main(words) == 1
    assert message in capsys.readouterr().err


def test_a_folder_without_documents_is_a_failure(tmp_path, capsys):
    assert cli.main(["index", str(tmp_path), "--to", str(tmp_path / "x")]) == 1
    assert capsys.readouterr().out.startswith("0 documents")
