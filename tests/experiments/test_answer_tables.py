"""Answers as tables: all rows and columns of the input, and training data as they are."""

import csv
from pathlib import Path

import pytest

import tfmrc
from tests.running import eagerly
from tfmrc import cli, encoders, experiments, models, preprocessing
from tfmrc.data import read_table
from tfmrc.experiments import Loaded
from tfmrc.experiments.examples.rows import row_digest
from tfmrc.experiments.tables.reading import read_questions

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


@pytest.fixture
def answered(reader, tmp_path, monkeypatch):
    """A function that writes a table of answers and returns its rows."""
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text(QUESTIONS)

    def predict(output, least="0"):
        words = ["predict", reader, "--input", "q.csv", "--output", output, "--sort"]
        words += ["--option", f"min_probability={least}"]
        with eagerly():
            assert cli.main(words) == 1  # a question is missing
        if output.endswith("csv"):
            with open(output, encoding="utf-8-sig", newline="") as file:
                return list(csv.DictReader(file))

    return predict


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx"])
def test_a_table_of_answers_is_training_data(suffix, answered, capsys):
    answered(f"a.{suffix}")
    assert "q.csv: line 4: question: must be text" in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == [f"a.{suffix}", "q.csv"]
    examples = list(read_table(f"a.{suffix}", columns={"group": "author"}))
    assert {e.question: e.group for e in examples} == {"Who flew?": "Ann", "Who sat?": "Bob"}
    assert {e.passages[0] for e in examples} == {"=An owl flew.", "A cat sat."}
    assert all(e.span_text(e.spans[0]) == e.answers["span"][0] for e in examples)
    assert "2 questions, 2 with an answer, 2 with its position" in experiments.init(
        "again", model="reader", data=f"a.{suffix}", encoder="minilm"
    )
    assert "1 skipped: not answered by `tfmrc predict`" in capsys.readouterr().err


def test_a_table_has_every_row_and_column_of_the_input(answered):
    broken, *rows = answered("a.csv")
    columns = "question answer probability is_confident passage start end error".split()
    assert list(broken) == [*columns, "Nr", "context", "given_answer", "author"]
    assert broken["Nr"] == "3" and "must be text" in broken["error"]
    assert float(rows[0]["probability"]) <= float(rows[1]["probability"])
    for row in rows:
        assert row["passage"][int(row["start"]) : int(row["end"])] == row["answer"]
    assert {row["Nr"]: row["given_answer"] for row in rows} == {"1": "An owl", "2": ""}


def test_a_refusal_is_a_question_without_an_answer(answered):
    _, *rows = answered("a.csv", least="1.0")
    assert all(not row["answer"] and row["best_guess"] for row in rows)
    assert [example.answerable for example in read_table("a.csv")] == [False, False]
    unknown = list(read_table("a.csv", blank_answers="unknown"))
    assert [example.answerable for example in unknown] == [None, None]


def test_a_table_of_answers_is_not_replaced(answered, reader, capsys):
    answered("a.csv")
    assert cli.main(["predict", reader, "--input", "q.csv", "--output", "a.csv"]) == 1
    assert "written to a new file" in capsys.readouterr().err  # it may have been corrected


def test_a_corrected_answer_is_located_anew(answered):
    answered("a.csv")
    with open("a.csv", encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    for row in rows:
        row[header.index("answer")] = row[header.index("answer")] and "."
    with open("b.csv", "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    assert [example.spans for example in read_table("b.csv")] == [(), ()]


def test_several_files_have_one_account(tmp_path):
    (tmp_path / "a.csv").write_text("id,question,passage,answer\n1,Who?,Owl.,Owl\n2,Who?,Cat.,\n")
    (tmp_path / "b.jsonl").write_text('{"id": 1, "question": "Why?", "passage": "So."}\n{}\n')
    rows, account = read_questions([tmp_path / "a.csv", tmp_path / "b.jsonl"], on_error="skip")
    assert [example.id for example in rows.examples] == ["1"]
    assert (account.read, account.used, account.skipped) == (3, 1, 1)
    assert "1 skipped: blank answer (see --blank-answers)" in str(account)
    assert "id: occurs twice" in str(account)


def test_rows_of_the_training_are_left_out_wherever_they_stand(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question,passage,answer\nWho?,Owl.,Owl\nWhy?,So it was.,So\n")
    trained = {row_digest(example) for example in list(read_table(path))[:1]}
    path.write_text("question,passage,answer\nHow?,Well.,Well\nWho?, Owl. ,Corrected\n")
    rows, account = read_questions(path, trained=trained)
    assert [example.question for example in rows] == ["How?"]
    assert "1 skipped: a row of the training" in str(account)


def test_blank_answers_of_another_file_mean_what_they_did_in_the_training(
    reader, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text(QUESTIONS)
    chosen = {"on_error": "skip", "encoder": "minilm"}
    for blank, count in (("unknown", None), ("none", 1)):
        experiments.init(blank, model="reader", data="q.csv", blank_answers=blank, **chosen)
        settings = experiments.read_settings(f"{blank}.yaml")
        monkeypatch.setattr(Loaded, "table_options", settings.sources[0].options)
        with eagerly():
            report = experiments.evaluate_file(reader, "q.csv", on_error="skip")
        refused = report.systems["reader"].get("squad_2_no_answer_accuracy")
        assert (refused and refused.size) == count


def test_passages_without_questions_need_a_model_that_asks(reader, tmp_path, capsys):
    (tmp_path / "p.csv").write_text("section,paragraph\n1,An owl flew.\n")
    assert cli.main(["predict", reader, "--input", str(tmp_path / "p.csv")]) == 1
    said = capsys.readouterr().err
    assert "no column question or query (it has section, paragraph). Add `--columns quest" in said
