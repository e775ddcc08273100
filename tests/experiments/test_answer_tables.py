"""Answers as tables: all columns of the input, and training data as they are."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

import tfmrc
from tests.running import eagerly
from tfmrc import cli, encoders, experiments, models, preprocessing
from tfmrc.data import read_table
from tfmrc.experiments.steps import evaluate as evaluating

QUESTIONS = """Nr,question,context,answer,author
1,Who flew?,=An owl flew.,An owl,Ann
2,Who sat?,A cat sat.,,Bob
3,,A dog.,,Cy
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    encoder = encoders.from_vocabulary("who flew an owl ? .".split())
    predictor = tfmrc.Predictor(
        models.ExtractiveReader(encoder=encoder),
        preprocessing.ExtractiveReaderPreprocessor(encoder=encoder),
    )
    return str(predictor.save(tmp_path_factory.mktemp("model") / "reader"))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx"])
def test_a_table_of_answers_is_training_data(suffix, reader, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text(QUESTIONS)
    command = ["predict", reader, "--input", "q.csv", "--output", f"a.{suffix}", "--sort"]
    with eagerly():
        assert cli.main(command) == 1  # a question is missing
    assert "q.csv: line 4: question: must be text" in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == [f"a.{suffix}", "q.csv"]
    examples = list(read_table(f"a.{suffix}", columns={"group": "author"}))
    assert {e.question: e.group for e in examples} == {"Who flew?": "Ann", "Who sat?": "Bob"}
    assert {e.passages[0] for e in examples} == {"=An owl flew.", "A cat sat."}
    assert all(e.answers["span"][0] in e.passages[0] for e in examples)
    if suffix == "csv":
        with open("a.csv", encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        asked = [*("question answer probability confident passage start end".split())]
        assert list(rows[0]) == [*asked, "Nr", "context", "given_answer", "author"]
        assert float(rows[0]["probability"]) <= float(rows[1]["probability"])
        for row in rows:
            assert row["passage"][int(row["start"]) : int(row["end"])] == row["answer"]
        assert {row["Nr"]: row["given_answer"] for row in rows} == {"1": "An owl", "2": ""}
    assert "2 questions, 2 with an answer" in experiments.init(
        "again", model="reader", data=f"a.{suffix}", encoder="minilm"
    )
    assert cli.main(command) == 1  # it may have been corrected
    assert "written to a new file" in capsys.readouterr().err


def test_blank_answers_of_another_file_mean_what_they_did_in_the_training(
    reader, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text(QUESTIONS)
    chosen = {"on_error": "skip", "encoder": "minilm"}
    for blank, count in (("unknown", None), ("none", 1)):
        experiments.init(blank, model="reader", data="q.csv", blank_answers=blank, **chosen)
        settings = experiments.read_settings(f"{blank}.yaml")
        opened = replace(experiments.open_model(reader), settings=settings)
        monkeypatch.setattr(evaluating, "open_model", lambda *_, model=opened: model)
        with eagerly():
            [report] = experiments.evaluate(reader, "q.csv", on_error="skip")
        refused = report.systems["reader"].get("squad_2_no_answer_accuracy")
        assert (refused and refused.size) == count


def test_passages_without_questions_need_a_model_that_asks(reader, tmp_path, capsys):
    (tmp_path / "p.csv").write_text("section,paragraph\n1,An owl flew.\n")
    assert cli.main(["predict", reader, "--input", str(tmp_path / "p.csv")]) == 1
    said = capsys.readouterr().err
    assert "no column question or query (it has section, paragraph). Add `--columns quest" in said
