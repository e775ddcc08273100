"""Which scores a task's texts get, and under which names."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tfmrc.data import Example
from tfmrc.evaluation import Prediction, Report, mean_of_runs
from tfmrc.experiments.reporting import add_baselines, new_report
from tfmrc.experiments.scoring import (
    EvaluationSet,
    PredictionFile,
    TaskPredictions,
    predict_set,
    prefix_of,
    score_set,
    task_predictions,
)
from tfmrc.experiments.settings import Evaluation, Source, from_mapping
from tfmrc.experiments.steps.evaluate import verdict
from tfmrc.predictors.task import Task

EXAMPLES = [
    Example(
        "a", "Who flew?", ("An owl flew.", "It slept."), {"s": ("An owl",)}, True, (True, False)
    ),
    Example("b", "When?", ("It was in 1905.", "So."), {"s": ("1905", "in 1905")}, True),
]
TEXTS = {"a": Prediction("a", "an owl", "s"), "b": Prediction("b", "1906", "s")}


def task(source=None, predictions=TEXTS, examples=EXAMPLES, target="answer", prefix=""):
    test = EvaluationSet("x", 0, source or Source("examples", ("s",)), examples, examples, "test")
    style = "s" if target == "answer" else None
    file = PredictionFile("", "x", {}, target, style, prefix, is_text=True, about_answers=False)
    return task_predictions(file, test, predictions, meteor=False)


def scores(predicted: TaskPredictions) -> dict[str, float]:
    """All scores by name."""
    rows = [row for several in predicted.scores for row in several.rows]
    return {row.name: float(row) for row in rows if row.value is not None}


def test_answers_by_overlap_and_short_ones_by_squads_rules():
    found = scores(task())
    assert found["exact_match"] == found["f1"] == found["rouge_l"] == 0.5
    assert "f1_who" not in found  # of one question
    assert "f1" not in scores(task(Source("examples", ("s",), squad_scores=False)))
    only = scores(task(Source("examples", ("s",), rules="squad")))
    assert only["f1"] == 0.5 and "rouge_l" not in only
    several = {**TEXTS, "b": replace(TEXTS["b"], alternatives=("1905",))}
    best = scores(task(predictions=several))
    assert (best["exact_match@1"], best["exact_match@2"]) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("format_", "squad_scores", "words", "expected"),
    [("examples", None, 5, True), ("examples", None, 6, False), ("squad", None, 6, True),
     ("squad", False, 1, False)],
)  # fmt: skip
def test_short_answers_are_found_by_their_median(format_, squad_scores, words, expected):
    examples = [replace(EXAMPLES[0], answers={"s": ("x " * words,)})]
    source = Source(format_, ("s",), squad_scores=squad_scores)
    assert task(source, examples=examples).submission.by_squad == expected


def test_questions_by_overlap_and_repetition():
    asked = {"a": Prediction("a", "who who flew", "ask"), "b": Prediction("b", "when", "ask")}
    predicted = task(predictions=asked, target="question", prefix="qg")
    found = scores(predicted)
    assert found["qg_duplication_rate"] == pytest.approx(1 / 4)
    assert 0 < found["qg_rouge_l"] < 1 and "qg_f1" not in found
    assert predicted.submission.answers == {"a": ("Who flew?",), "b": ("When?",)}


def test_baselines_look_for_what_is_given():
    assert task().baselines()["most similar sentence"]["a"] == "An owl flew."
    asked = task(target="question").baselines()
    assert asked["most similar sentence"] == {"a": "An owl flew.", "b": "It was in 1905."}
    pairs = [Example("p", "who ?", ("it slept .",))]
    written = {"p": Prediction("p", "who ?")}
    assert task(predictions=written, target="question", examples=pairs).baselines() == {}


def test_ranker_and_classifier_are_scored_beside_their_baselines():
    mixed = [*EXAMPLES, Example("c", "Why?", ("So.",), answerable=False)]
    several = {
        key: Prediction(key, "x", "s", {"relevance": [0.2, 0.7], "answerable_probability": chance})
        for key, chance in (("a", 0.9), ("b", 0.4), ("c", 0.1))
    }
    found: dict[str, dict[str, float]] = {}
    for name, part in task(examples=mixed, predictions=several).model_scores:
        found.setdefault(name, {}).update({row.name: float(row) for row in part.rows})
    assert found[""]["mrr"] == 0.5 and found["passages in the order given"]["mrr"] == 1.0
    assert found[""]["answerable_f1"] == pytest.approx(2 / 3)
    assert found[""]["best_answerable_f1"] == 1.0
    assert found["always answerable"]["answerable_f1"] == pytest.approx(4 / 5)
    assert task().model_scores == []


def test_prefixes_tell_styles_and_targets_apart():
    one, two = Source("examples", ("s",)), Source("examples", ("s", "l"))
    assert prefix_of({}, one, "answer", "s") == ""
    assert prefix_of({}, two, "answer", "l") == "l"
    assert prefix_of({}, Source("msmarco", ("nlg",)), "answer", "nlg") == "nlg"
    assert prefix_of({"answer": "qa", "question": "qg"}, two, "answer", "l") == "qa"
    assert prefix_of({"question": "qg"}, one, "question", None) == "qg"
    assert prefix_of({}, two, "answer", "l", only_target=False) == "answer"


def test_baselines_answer_the_questions_that_have_no_answer_too():
    mixed = [*EXAMPLES, Example("c", "Why?", ("So.",), answerable=False)]
    given = {**TEXTS, "c": Prediction("c", "", "s")}
    predicted = task(examples=mixed, predictions=given)
    assert scores(predicted)["squad_2_f1"] == pytest.approx(2 / 3)
    baseline = scores(predicted.of_texts({"a": "an owl", "b": "x", "c": "So."}))
    assert baseline["squad_2_f1"] == pytest.approx(1 / 3)
    assert baseline["squad_2_no_answer_accuracy"] == baseline["squad_2_wrongly_refused"] == 0.0


@pytest.mark.parametrize("spans", [None, "exact"])
def test_answers_are_scored_on_all_questions_and_questions_where_they_can_be_asked(spans, tmp_path):
    """The answer of "c" is in no passage, and "d" has none."""
    shown: dict[str, list[Example]] = {}

    class Both:
        tasks = (Task("answer", "answer", "s"), Task("ask", "question", "s"))
        only_asks = False
        model = None

        def predict(self, examples: Any, *, task: str, **options: Any) -> Any:
            shown[task] = list(examples)
            for _ in shown[task]:
                yield SimpleNamespace(to_json=lambda: {"text": "Who slept?"}, alternatives=())

    examples = [
        *EXAMPLES,
        Example("c", "How?", ("An owl flew.",), {"s": ("By night",)}, True),
        Example("d", "Why?", ("So.",), {}, False),
    ]
    source = Source("examples", ("s",), test="t.jsonl", spans=spans)
    test = EvaluationSet("x", 0, source, examples, examples, "t.jsonl")
    model: Any = SimpleNamespace(predictor=Both(), digest="digest")
    files = predict_set(model, test, tmp_path, "x", Evaluation())
    found = score_set(files, test, tmp_path, meteor=False)
    report = new_report(test, found.systems, title="x", details={})
    add_baselines(report, test, found.main)
    assert [example.id for example in shown["answer"]] == ["a", "b", "c", "d"]
    asked = ["a", "b"] if spans else ["a", "b", "c"]
    assert [example.id for example in shown["ask"]] == asked
    for system in ("x", "most similar sentence"):
        scores = report.systems[system]
        assert scores["answer_rouge_l"].size == 3
        assert scores["question_rouge_l"].size == len(asked)
    assert report.systems["x_human"]["question_duplication_rate"].size == len(asked)


@pytest.mark.parametrize(("target", "reached"), [(0.5, True), (0.6, False)])
def test_every_run_of_a_table_reaches_a_target(target, reached):
    """The runs have exact matches of 0.5 and 1, their mean is 0.75."""
    right = {**TEXTS, "b": Prediction("b", "1905", "s")}
    runs = [task(predictions=predictions).scores[1] for predictions in (TEXTS, right)]
    report = Report("x", dataset="own", split="test")
    report.add("x", mean_of_runs(runs))
    values = {"name": "x", "sources": [], "model": {"name": "SAN"}}
    experiment = from_mapping({**values, "evaluation": {"targets": {"exact_match": target}}})
    lines, met = verdict(experiment, [report])
    assert met == reached and "0.500, 1.000" in lines[0]
