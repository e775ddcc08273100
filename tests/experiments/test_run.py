"""An experiment from its YAML file to an answered question, as a user runs it."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
import pytest

from tests.experiments.small import CONFIG, NAMES, example
from tests.running import eagerly
from tfmrc import Predictor, cli, data, experiments
from tfmrc.evaluation import read_predictions
from tfmrc.evaluation.metrics import meteor
from tfmrc.experiments.building.model import build_model
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.run_folder import locked

pytestmark = pytest.mark.usefixtures("exports_once", "predictors_once")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("recipe")
    data.write_examples(made / "train.jsonl", [example(n) for n in range(20)])
    data.write_examples(made / "test.jsonl", [example(n) for n in range(100, 108)])
    (made / "config.yaml").write_text(CONFIG, encoding="utf-8")
    places = ["--data", str(made), "--run", str(made / "run")]
    with eagerly():
        assert cli.main(["train", str(made / "config.yaml"), *places]) == 0
    return made


class Jar:
    """Answers as METEOR's jar, which takes seconds to start: tests/evaluation/metrics asks it."""

    def ask(self, lines: Sequence[str], answers: int | None = None) -> list[str]:
        return [" ".join(["1.0"] * 23)] * len(lines) if answers is None else ["0.25"] * answers


@pytest.fixture(scope="module")
def evaluated(folder):
    with eagerly(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(meteor, "unavailable", str)
        patch.setattr(meteor, "_engine", Jar)
        assert cli.main(["evaluate", str(folder / "run"), "--data", str(folder)]) == 0
    return folder / "run" / "evaluation" / "1-test-short-long"


def test_a_run_is_evaluated_by_one_process_at_a_time(evaluated, folder, capfd):
    before = (evaluated / "metrics.json").stat().st_mtime_ns
    with locked(folder / "run" / "evaluation"):
        assert cli.main(["evaluate", str(folder / "run"), "--data", str(folder)]) != 0
    assert "Another process is using" in capfd.readouterr().err
    assert (evaluated / "metrics.json").stat().st_mtime_ns == before


def test_the_limit_of_the_command_is_that_of_the_settings(folder, monkeypatch):
    def evaluate_run(run, settings, **given):
        assert settings.evaluation.limit == 3
        return []

    monkeypatch.setattr(experiments, "evaluate_run", evaluate_run)
    assert cli.main(["evaluate", str(folder / "run"), "--limit", "3"]) == 0


def test_training_says_what_it_did(folder):
    facts = json.loads((folder / "run" / "training.json").read_text())
    assert facts["steps"] == 6
    assert facts["ended_by"] == "all steps done"
    assert facts["machine"]["versions"]["keras"] == keras.__version__
    found = json.loads((folder / "run" / "data.json").read_text())
    [source] = found["sources"]
    assert source["train"]["examples"] + source["validation"]["examples"] == 20
    assert source["test"]["examples"] == 8
    with (folder / "run" / "log.csv").open() as log:
        rows = list(csv.DictReader(log))
    assert [row["epoch"] for row in rows] == ["0", "1"]
    assert all(float(row["val_loss"]) > 0 for row in rows)


def test_the_predictor_holds_the_averaged_weights_of_the_best_evaluation(folder):
    predictor = Predictor.load(folder / "run" / "predictor")
    again = experiments.read_settings(folder / "run" / "config.yaml")
    assert predictor.preprocessor.styles == again.styles == ("short", "long")
    best = build_model(Plan(again, folder), predictor.preprocessor)
    best.load_weights(folder / "run" / "best.weights.h5")
    for ours, theirs in zip(predictor.model.weights, best.weights, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.slow
@pytest.mark.parametrize("part", ["decoder", "ranker"])
def test_without_a_decoder_or_with_a_gold_ranker(folder, tmp_path, part):
    """Table 3's gold ranker and Table 4's model without a decoder."""
    run, value = str(tmp_path / "run"), {"decoder": "false", "ranker": "gold"}[part]
    command = ["train", str(folder / "config.yaml"), "--data", str(folder), "--run", run]
    changes = [f"model.{part}={value}"]
    changes += ["preprocessor.gold_relevance=true"] * (part == "ranker")
    assert cli.main([*command, "--set", *changes]) == 0
    assert cli.main(["evaluate", run, "--data", str(folder)]) == 0
    [file] = Path(run).glob("evaluation/*/metrics.json")
    scores = json.loads(file.read_text())["systems"]["small"]["scores"]
    assert ("mrr" in scores) == (part == "decoder")
    assert ("short_rouge_l" in scores) == (part == "ranker")
    assert 0.0 <= scores["answerable_f1"]["value"] <= 1.0


def test_evaluation_scores_both_styles_beside_baselines_and_paper(evaluated):
    metrics = json.loads((evaluated / "metrics.json").read_text())
    assert set(metrics["systems"]) >= {
        "small",
        "first sentence",
        "most similar sentence",
        "always answerable",
    }
    ours = metrics["systems"]["small"]["scores"]
    assert {"short_rouge_l", "long_rouge_l", "map", "mrr"} <= set(ours)
    assert ours["short_meteor"]["value"] == 0.25
    assert ours["answerable_f1"]["note"] == "threshold 0.5"
    assert ours["best_answerable_f1"]["value"] >= ours["answerable_f1"]["value"]
    chosen = read_predictions(next(evaluated.glob("predictions-short.jsonl")))
    answerable = [key for key in chosen if example(int(key[1:])).answerable]
    assert len(chosen) == 5
    assert ours["short_rouge_l"]["size"] == len(answerable)
    assert ours["short_rouge_l"]["seed"] == 1
    similar = metrics["systems"]["most similar sentence"]["scores"]
    assert similar["long_rouge_l"]["value"] == pytest.approx(1.0)
    report = (evaluated / "report.md").read_text()
    assert "| 50.00 |" in report and "6 steps of 4" in report
    pictures = {path.name for path in evaluated.glob("*.png")}
    assert {"learning_curves.png", "answer_lengths.png", "answer_possibility.png"} <= pictures


def test_evaluation_shows_samples_and_where_words_came_from(evaluated):
    samples = (evaluated / "samples.md").read_text()
    chosen = read_predictions(next(evaluated.glob("predictions-long.jsonl")))
    asked = [key for key in chosen if example(int(key[1:])).answerable]
    assert all(f"## {key}: Who ran home?" in samples for key in asked)
    name = NAMES[int(asked[0][1:]) % 8]
    assert f"| {name} |" in samples and f"| {name} ran home. |" in samples
    page = (evaluated / "mixture_weights_1.html").read_text()
    assert "Who ran home?" in re.sub("</?mark[^>]*>", "", page) and "<script" not in page


def test_predict_and_export_and_answer_agree(folder, capsys):
    one = example(101)
    data.write_examples(folder / "ask.jsonl", [one])
    run, export = str(folder / "run"), str(folder / "exports" / "small" / "3")
    asked = ["--input", str(folder / "ask.jsonl"), "--task", "long"]
    asked += ["--option", "min_probability=0"]  # a model that learnt nothing refuses
    assert cli.main(["predict", run, *asked]) == 0
    predicted = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert cli.main(["predict", run, *asked, "--output", str(folder / "answers.jsonl")]) == 0
    assert json.loads((folder / "answers.jsonl").read_text())["answer"] == predicted["answer"]
    capsys.readouterr()
    assert cli.main(["predict", run, *asked, "--format", "answers"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == predicted["answer"]
    assert cli.main(["predict", run, *asked, "--format", "squad"]) == 0
    assert json.loads(capsys.readouterr().out) == {one.id: predicted["answer"]}
    before = (folder / "ask.jsonl").read_bytes()
    assert cli.main(["predict", run, *asked, "--output", str(folder / "ask.jsonl")]) == 1
    assert "would replace the input" in capsys.readouterr().err
    assert (folder / "ask.jsonl").read_bytes() == before
    assert cli.main(["export", run, "--to", export]) == 0
    capsys.readouterr()
    passages = [text for passage in one.passages for text in ("--passage", passage)]
    question = ["answer", export, "--question", one.question, *passages]
    assert cli.main([*question, "--style", "long", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["text"] == predicted["answer"]
    assert answer["answerable_probability"] == pytest.approx(
        predicted["scores"]["answerable_probability"], abs=1e-5
    )
    assert len(answer["relevance"]) == 2
    page = folder / "page.html"
    assert cli.main([*question, "--style", "long", "--html", str(page)]) == 0
    shown = page.read_text()
    assert shown.count('<span class="word"') == len(answer["words"])
    assert all(passage in re.sub("</?mark[^>]*>", "", shown) for passage in one.passages)
    assert cli.main([*question, "--style", "grand"]) == 1
    assert "short" in capsys.readouterr().err
