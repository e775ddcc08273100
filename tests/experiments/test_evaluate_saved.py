"""Scores of a saved predictor and of a reader of Hugging Face on a file."""

import json
import re
import shutil

import keras
import numpy as np
import pytest

import tfmrc
from tfmrc import Predictor, cli, encoders, evaluation, models, preprocessing
from tfmrc.experiments import evaluate_file, open_model
from tfmrc.predictors.ready.shipped import ready_folder

PIECES = "who named the owl mill a hill where is it ? . on".split()
PASSAGE = "The owl named the mill. It is on a hill."
QUESTIONS = {
    "a": ("Who named the mill?", "The owl"),
    "b": ("Where is it?", "on a hill"),
    "c": ("Who is on the mill?", None),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A reader with clear probabilities, in Hugging Face's form."""
    encoder = encoders.from_vocabulary(PIECES, length=32)
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(
        encoder=encoder, window_length=24, overlap=6, question_length=8
    )
    model = models.ExtractiveReader(encoder=encoder, dropout=0.0)
    random = np.random.default_rng(1)
    for weight in model.trainable_weights:
        weight.assign(random.normal(scale=0.5, size=weight.shape))
    path = tmp_path_factory.mktemp("readers") / "reader"
    yield Predictor(model, preprocessor).save_hugging_face(path)
    keras.utils.clear_session()


@pytest.fixture
def questions(tmp_path):
    """A file of SQuAD 2.0 with a question that has no answer."""
    asked = [
        {
            "id": key,
            "question": question,
            "is_impossible": text is None,
            "answers": [{"text": text, "answer_start": PASSAGE.index(text)}] if text else [],
        }
        for key, (question, text) in QUESTIONS.items()
    ]
    article = {"title": "Owls", "paragraphs": [{"context": PASSAGE, "qas": asked}]}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"version": "v2.0", "data": [article]}), encoding="utf-8")
    return path


def test_scores_of_squad_2_and_the_baselines(folder, questions, tmp_path, without_graphs):
    out = tmp_path / "report"
    report = evaluate_file(folder, questions, out)
    given = evaluation.read_predictions(out / "predictions-answer.jsonl")
    assert set(given) == set(QUESTIONS)
    texts = {key: prediction.answer for key, prediction in given.items()}
    refused = {key: text * given[key].scores["is_confident"] for key, text in texts.items()}
    silence = {key: 1 - p.scores["probability"] for key, p in given.items()}
    known = {key: [text] if text else [] for key, (_, text) in QUESTIONS.items()}
    best = evaluation.score_squad(texts, known, version="2.0", no_answer=silence)
    expected = evaluation.score_squad(refused, known, version="2.0")
    scores = report.systems["reader"]
    for row in (*expected.rows, *best.rows[6:]):
        assert scores[f"squad_2_{row.name}"].value == row.value
        assert scores[f"squad_2_{row.name}"].note == row.note
    answered = {key: texts[key] for key in "ab"}
    plain = evaluation.score_squad(answered, {key: known[key] for key in "ab"})
    assert scores["f1"].value == plain["f1"].value
    assert {"reader", "first sentence", "most similar sentence"} <= set(report.systems)
    assert report.title == "reader on dev.json"
    written = evaluation.read_metrics(out / "metrics.json")
    assert written["systems"]["reader"]["scores"]["f1"]["value"] == plain["f1"].value
    before = (out / "predictions-answer.jsonl").read_bytes()
    evaluate_file(folder, questions, out)
    assert (out / "predictions-answer.jsonl").read_bytes() == before


def test_a_report_inside_the_folder_keeps_its_predictions(folder, tmp_path):
    """Also for a reader that tfmrc did not write, which has no digests."""
    copy = shutil.copytree(folder, tmp_path / "copy")
    for remove in ((), ("manifest.json",)):
        for name in remove:
            (copy / name).unlink()
        before = open_model(copy).digest
        (copy / "report").mkdir(exist_ok=True)
        for name in ("report/report.md", "answers.jsonl"):
            (copy / name).write_text(f"a report, {len(remove)}", encoding="utf-8")
        assert open_model(copy).digest == before
    config = json.loads((copy / "config.json").read_text()) | {"note": "another"}
    (copy / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert open_model(copy).digest != before


def test_the_digest_of_a_folder_is_that_of_the_predictor_in_it(folder, tmp_path):
    """`tfmrc.load` reads a folder that has it as `predictor`."""
    inner = tfmrc.load(folder).save(tmp_path / "one" / "predictor")
    assert open_model(inner.parent).digest == open_model(inner).digest != open_model(folder).digest


def test_ready_is_opened_by_its_name():
    assert open_model("ready").folder == ready_folder()


def test_the_command_and_its_options(folder, questions, tmp_path, capsys, without_graphs):
    command = ["evaluate", str(folder), "--input", str(questions)]
    silent = ["--option", "min_probability=1.0", "--output", str(tmp_path / "out")]
    assert cli.main([*command, "--rules", "squad", *silent]) == 0
    printed = capsys.readouterr().out
    assert f"Report: {tmp_path / 'out' / 'report.md'}" in printed
    row = next(line for line in printed.splitlines() if line.startswith("  reader "))
    # All three are refused: F1 and exact match count the one that has no answer as right.
    assert re.findall(r"(\S+) \[", row) == ["33.3", "33.3", "100.0", "100.0"]
    assert "# Worst answers" in (tmp_path / "out" / "report.md").read_text()
    scores = evaluation.read_metrics(tmp_path / "out" / "metrics.json")["systems"]["reader"]
    values = {name: score["value"] for name, score in scores["scores"].items()}
    assert (values["squad_2_no_answer_accuracy"], values["squad_2_has_answer_f1"]) == (1.0, 0.0)
    assert "rouge_l" not in values
    assert cli.main([*command, "--limit", "2"]) == 0
    assert "3 questions read, 2 used; 1 skipped: not drawn (--limit)" in capsys.readouterr().err
    predict = ["predict", str(folder), "--input", str(questions), "--format", "squad"]
    assert cli.main([*predict, "--option", "min_probability=1.0"]) == 0
    assert set(json.loads(capsys.readouterr().out).values()) == {""}
    assert cli.main([*predict, "--option", "num_beams=2"]) == 1
    assert "Predictor has the options num_return_" in capsys.readouterr().err
    assert cli.main([*command, "--set", "evaluation.limit=2"]) == 1
    assert "--set cannot be combined with --input FILE" in capsys.readouterr().err


def test_a_table_with_other_columns(folder, tmp_path, capsys, without_graphs):
    table = tmp_path / "fragen.csv"
    table.write_text("Frage,Text,Antwort\nWho flew?,The owl flew.,The owl\n", encoding="utf-8")
    rest = ["--input", str(table), "--columns", "question=Frage", "passages=Text"]
    assert cli.main(["predict", str(folder), *rest, "--format", "full"]) == 0
    assert json.loads(capsys.readouterr().out)["id"]
    assert cli.main(["evaluate", str(folder), *rest, "answers=Antwort"]) == 0
    assert "own data, " in capsys.readouterr().out
    assert cli.main(["predict", str(folder), *rest[:3], "question=Fragen"]) == 1
    assert "did you mean Frage?" in capsys.readouterr().err


def test_a_file_without_answers_cannot_be_scored(folder, tmp_path, without_graphs):
    unanswered = tmp_path / "asked.csv"
    unanswered.write_text("question,passage\nWho?,The owl.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"need answers. Received: none in .*asked.csv"):
        evaluate_file(folder, unanswered)


def test_prediction_needs_a_question_and_a_passage_and_nothing_else(
    folder, tmp_path, capsys, without_graphs
):
    """A broken record keeps its place, with `error`, and the exit status is 1."""
    asked = [
        {"id": 51, "question": "Who flew?", "answers": [{"text": "owl", "answer_start": 99}]},
        {"question": " ", "answers": None},
        {"question": "Where is it?", "answers": 1.5},
        {"id": 51, "question": "Who?"},
    ]
    path, out = tmp_path / "q.json", tmp_path / "out.jsonl"
    path.write_text(json.dumps([{"context": "An owl, the owl.", "qas": asked}]))
    command = ["predict", str(folder), "--input", str(path)]
    assert cli.main([*command, "--output", str(out)]) == 1
    said = capsys.readouterr().err
    assert "; 2 broken\n" in said
    assert "question: must be text" in said and "id: occurs twice" in said
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["id"] for line in lines] == ["51", "q.json:2", "q.json:3", "q.json:4"]
    assert ["error" in line for line in lines] == [False, True, False, True]
    assert ["answer" in line for line in lines] == [True, False, True, False]
    assert cli.main([*command, "--format", "squad"]) == 1
    assert list(json.loads(capsys.readouterr().out)) == [line["id"] for line in lines]
    assert cli.main([*command, "--on-error", "raise"]) == 1
    assert "--on-error skip" in capsys.readouterr().err


def test_evaluation_needs_texts_and_no_positions(folder, tmp_path, capsys, without_graphs):
    table = tmp_path / "t.csv"
    rows = "question,context,answer,answer_start\nWho?,An owl. An owl.,owl,99\n,An owl.,owl,3\n"
    table.write_text(rows)
    command = ["evaluate", str(folder), "--input", str(table)]
    assert cli.main(command) == 1
    assert "--on-error skip" in capsys.readouterr().err
    assert cli.main([*command, "--on-error", "skip"]) == 0
    said = capsys.readouterr()
    assert "; 1 broken\n" in said.err and "t.csv: line 3" in said.err
