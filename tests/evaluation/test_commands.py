"""`tfmrc score` and `tfmrc compare`: from files to scores and a report."""

import json
from pathlib import Path
from typing import Any

import pytest

from tfmrc.cli import main

REFERENCES: list[dict[str, Any]] = [
    {
        "id": "a",
        "question": "Who built it?",
        "passages": ["Ode built the mill.", "Rain fell."],
        "answers": {"qa": ["Ode built the mill"]},
        "answerable": True,
        "relevance": [True, False],
    },
    {
        "id": "b",
        "question": "When?",
        "passages": ["Ode built the mill.", "It was in spring."],
        "answers": {"qa": ["in spring"]},
        "answerable": True,
        "relevance": [False, True],
    },
    {"id": "c", "question": "Why?", "passages": ["Rain fell."], "answerable": False},
]
PREDICTIONS: list[dict[str, Any]] = [
    {
        "id": "a",
        "answer": "Ode built the mill",
        "scores": {"answerable_probability": 0.9, "relevance": [0.8, 0.1]},
    },
    {
        "id": "b",
        "answer": "spring",
        "alternatives": ["in spring"],
        "scores": {"answerable_probability": 0.7, "relevance": [0.8, 0.1]},
    },
    {"id": "c", "answer": "rain", "scores": {"answerable_probability": 0.2, "relevance": [0.5]}},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "dev.jsonl", REFERENCES)
    write(tmp_path / "run.jsonl", PREDICTIONS)
    return tmp_path


def scores_of(files: Path, *options: str) -> dict[str, Any]:
    words = [str(files / "run.jsonl"), str(files / "dev.jsonl"), "--output", str(files / "out")]
    assert main(["score", *words, *options]) == 0
    return json.loads((files / "out" / "metrics.json").read_text())["systems"]["run"]["scores"]


def test_all_metrics_that_apply(files, capsys):
    scores = scores_of(files, "--samples", "20")
    values = {name: score["value"] for name, score in scores.items()}
    # a: exact. b: "spring" of "in spring": P = 1, R = 1/2: 2.44 * 0.5 / (0.5 + 1.44) = 1.22 / 1.94.
    assert values["rouge_l"] == pytest.approx((1 + 1.22 / 1.94) / 2)
    assert values["exact_match"] == 0.5
    assert values["exact_match@2"] == 1.0
    assert values["mrr"] == pytest.approx((1 + 1 / 2) / 2)
    assert values["answerable_f1"] == values["best_answerable_f1"] == 1.0
    # "rain" for the question without an answer is the only one below the threshold.
    assert values["squad_2_exact_match"] == pytest.approx(1 / 3)
    assert values["squad_2_best_f1"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert scores["rouge_l"]["interval"]["samples"] == 20
    shown = capsys.readouterr().out
    assert "ROUGE-L 81.44 (n = 2; pycocoevalcap" in shown and "interval 81.44 [" in shown


def test_rules_metrics_and_threshold(files, capsys):
    only = scores_of(files, "--rules", "squad", "--metrics", "squad")
    assert {"exact_match", "f1"} <= only.keys() and "rouge_l" not in only
    strict = scores_of(files, "--threshold", "0.8", "--metrics", "answerability")
    assert strict["answerable_recall"]["value"] == 0.5
    scores_of(files, "--json")
    assert '"rouge_l": {' in capsys.readouterr().out
    rows = [{"id": row["id"], "answer": row["answer"]} for row in PREDICTIONS]
    write(files / "run.jsonl", [*rows[:2], {"id": "c", "answer": "No Answer Present."}])
    scores = scores_of(files, "--rules", "msmarco")  # which answers decide, without probabilities
    assert scores["answerable_f1"]["value"] == 1.0 and scores["answerable_f1"]["size"] == 3
    assert scores["squad_2_no_answer_accuracy"]["value"] == 1.0
    assert "unanswerable 1" in capsys.readouterr().out


def test_questions_without_an_answer_in_the_style_are_left_out(files):
    """They can be answered: MS MARCO has well-formed answers to some questions only."""
    both = {"qa": ["x"], "nlg": ["It was Ode."]}
    rows = [{**REFERENCES[0], "answers": both}, *REFERENCES[1:]]
    write(files / "dev.jsonl", rows)
    write(files / "run.jsonl", [{**row, "style": "nlg"} for row in PREDICTIONS])
    scores = scores_of(files, "--style", "nlg", "--rules", "squad")
    assert (scores["f1"]["size"], scores["squad_2_f1"]["size"]) == (1, 2)


def test_a_system_that_never_refuses_is_wrong_where_there_is_no_answer(files, capsys):
    write(files / "run.jsonl", [{"a": "Ode built the mill", "b": "in spring", "c": "rain"}])
    scores = scores_of(files)
    assert scores["squad_2_f1"]["value"] == pytest.approx(2 / 3)
    assert (scores["f1"]["value"], scores["f1"]["size"]) == (1.0, 2)
    shown = capsys.readouterr().out
    assert (
        shown.index("F1 66.67 (n = 3")
        < shown.index("refusals not counted")
        < shown.index("F1 100.00 (n = 2")
    )


def test_references_are_read_like_every_table(files, capsys):
    rows = ["nr;Frage;passage;Antwort", "a;Who?;Ode.;Ode", "b;Why?;So.;", "c;;So.;So"]
    (files / "dev.csv").write_text("\n".join(rows))
    write(files / "run.jsonl", [{"a": "Ode", "b": "So"}])
    words = ["score", str(files / "run.jsonl"), str(files / "dev.csv"), "--on-error", "skip"]
    columns = ["--columns", "id=nr", "question=Frage", "answers=Antwort"]
    for blank, said in (
        ((), "1 skipped: blank answer"),
        (("none",), "1 blank answers, read as no answer"),
    ):
        assert main([*words, *columns, *(f"--blank-answers={one}" for one in blank)]) == 0
        said_of = capsys.readouterr()
        assert "dev.csv: 3 questions read" in said_of.err and said in said_of.err
        assert ("Rightly refused 0.00" in said_of.out) == bool(blank)


def test_worst_variants(files):
    variants = [REFERENCES[0], {**REFERENCES[0], "id": "a-high-conf-turk0"}]
    write(files / "dev.jsonl", variants)
    write(files / "run.jsonl", [PREDICTIONS[0], {"id": "a-high-conf-turk0", "answer": "Rain"}])
    scores = scores_of(files, "--rules", "adversarial")
    assert scores["f1"]["value"] == 0.0 and scores["unchanged_f1"]["value"] == 1.0


def test_compare(files, capsys):
    better = [
        {**row, "answer": row["answer"].replace("spring", "in spring")} for row in PREDICTIONS
    ]
    other = str(write(files / "other.jsonl", better))
    run, dev, out = (str(files / name) for name in ("run.jsonl", "dev.jsonl", "out"))
    assert main(["compare", run, other, dev, "--output", out]) == 0
    shown = capsys.readouterr().out
    assert f"{other} - {run}, paired bootstrap" in shown and "F1 +11.11 [" in shown
    metrics = json.loads((files / "out" / "metrics.json").read_text())
    tests = {test["score"]: test for test in metrics["differences"]}
    assert tests["rouge_l"]["difference"] == pytest.approx(1 - (1 + 1.22 / 1.94) / 2)
    assert tests["mrr"]["difference"] == 0.0 and tests["mrr"]["p_value"] == 1.0


OWN = """
from tfmrc import evaluation

@evaluation.register_metric("loudness")
def loudness(given):
    marks = {key: float("!" in text) for key, text in given.texts.items()}
    row = evaluation.mean_score("loud", "Loud", marks, scorer="own", tokenisation="none")
    return evaluation.Scores("loudness", (row,))
"""


def test_a_metric_of_ones_own_is_in_every_command(files, monkeypatch, capsys):
    from tfmrc.evaluation.metrics import registry

    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))
    monkeypatch.chdir(files)
    Path("loudness_metric.py").write_text(OWN)
    assert scores_of(files, "--import", "loudness_metric")["loud"]["value"] == 0.0
    assert main(["compare", "run.jsonl", "run.jsonl", "dev.jsonl"]) == 0
    assert "Loud 0.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rules", "squat"], "There are no rules 'squat'; did you mean squad?"),
        (["--metrics", "rankin"], "There is no metric 'rankin'; did you mean ranking?"),
        (["--style", "nlg"], "no answer has this style; there are ['qa']"),
    ],
)
def test_wrong_options_are_explained(files, capsys, options, message):
    words = [str(files / "run.jsonl"), str(files / "dev.jsonl")]
    assert main(["score", *words, *options]) == 1
    assert message in capsys.readouterr().err
