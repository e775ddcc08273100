"""The commands `index` and `answer --documents`."""

import json

import pytest

import tfmrc
from tests import fresh_python
from tfmrc import cli, documents, encoders, models, preprocessing


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
        assert cli.main(["index", "ready", "--to", "owls.index"]) == 0
        first, left_out = capsys.readouterr().out.splitlines()
        assert first.startswith(f"1 documents. New or changed: {read}; ")
        assert left_out == "Left out: none.txt is empty."
    asked = ["answer", reader, "--documents", "owls.index", "--question", "What flew?"]
    asked += ["--option", "min_probability=0"]
    assert cli.main([*asked, "--num-passages", "2"]) == 0
    quotation, place, *_ = capsys.readouterr().out.splitlines()
    assert quotation in "An owl flew." and place.startswith("  in owls.md, Owls, characters ")
    assert cli.main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    store = documents.open_store("owls.index")
    assert store.document_text(found["document"])[found["start"] : found["end"]] == found["text"]
    store.close()


WITHOUT_TENSORFLOW = """
import sys
from tfmrc import cli
print(cli.main(["index", sys.argv[1], "--to", sys.argv[1] + ".index"]), "tensorflow" in sys.modules)
"""


def test_an_index_is_made_without_tensorflow(folder):
    assert fresh_python.run("-c", WITHOUT_TENSORFLOW, folder).splitlines()[-1] == "0 False"


@pytest.mark.parametrize(
    "words, message",
    [
        (["index", "nowhere", "--to", "x"], "nowhere is not a folder"),
        (["index", "ready", "--to", "x", "--passage-length", "0"], "`passage_length` must be"),
        (["answer", "--question", "?", "--documents", "no.index"], "There is no index no.index"),
        (["answer", "--question", "?", "--documents", "x", "--html", "y"], "give --passage"),
        (
            ["answer", "--question", "?", "--passage", "x", "--num-passages", "3"],
            "--documents FILE",
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
