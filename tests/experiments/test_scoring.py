"""Which scores a task's texts get, and under which names."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tfmrc.data import Example
from tfmrc.evaluation import Prediction
from tfmrc.experiments.environment import machine
from tfmrc.experiments.loading import from_mapping
from tfmrc.experiments.reporting import details_of
from tfmrc.experiments.scoring import (
    Written,
    baselines,
    by_squad,
    prefix_of,
    score,
    score_parts,
)
from tfmrc.experiments.settings import Evaluation, Experiment, Source
from tfmrc.experiments.sources import Splits
from tfmrc.experiments.steps.evaluate import Tested, add_baselines, report_of, score_source
from tfmrc.predictors.task import Task

EXAMPLES = [
    Example(
        "a", "Who flew?", ("An owl flew.", "It slept."), {"s": ("An owl",)}, True, (True, False)
    ),
    Example("b", "When?", ("It was in 1905.", "So."), {"s": ("1905", "in 1905")}, True),
]
TEXTS = {"a": Prediction("a", "an owl", "s"), "b": Prediction("b", "1906", "s")}
ANSWERS = Written(Source("examples", ("s",)), "answer", "s", EXAMPLES, TEXTS, "")


def scores(written: Written, **options: bool) -> dict[str, float]:
    """All scores by prefix and name."""
    found = score(written, written.references, **{"meteor": False, **options})
    return {
        f"{prefix}_{row.name}".strip("_"): float(row)
        for prefix, several in found
        for row in several.rows
        if row.value is not None
    }


def test_answers_by_overlap_and_short_ones_by_squads_rules() -> None:
    found = scores(ANSWERS)
    assert found["exact_match"] == found["f1"] == found["rouge_l"] == 0.5
    assert found["f1_who"] == 1.0 and found["f1_when"] == 0.0
    long = Source("examples", ("s",), squad_scores=False)
    assert "f1" not in scores(replace(ANSWERS, source=long))
    only = scores(replace(ANSWERS, source=Source("examples", ("s",), rules="squad")))
    assert only["f1"] == 0.5 and "rouge_l" not in only
    several = replace(TEXTS["b"], alternatives=("1905",))
    best = scores(replace(ANSWERS, predictions={**TEXTS, "b": several}))
    assert (best["exact_match@1"], best["exact_match@2"]) == (0.5, 1.0)


def test_short_answers_are_found_by_their_median() -> None:
    free, squad = Source("examples", ("s",)), Source("squad")
    assert by_squad(free, {"a": ["one two three four five"]})
    assert not by_squad(free, {"a": ["one two three four five six"]})
    assert by_squad(squad, {"a": ["one two three four five six"]})
    assert not by_squad(replace(squad, squad_scores=False), {"a": ["one"]})


def test_questions_by_overlap_and_repetition() -> None:
    asked = {"a": Prediction("a", "who who flew", "ask"), "b": Prediction("b", "when", "ask")}
    written = replace(ANSWERS, target="question", style=None, predictions=asked, prefix="qg")
    found = scores(written)
    assert found["qg_duplication_rate"] == pytest.approx(1 / 4)
    assert 0 < found["qg_rouge_l"] < 1 and "qg_f1" not in found
    assert written.references == {"a": ["Who flew?"], "b": ["When?"]}


def test_the_worst_variant_of_an_adversarial_question_counts() -> None:
    both = [*EXAMPLES, replace(EXAMPLES[0], id="a-high-conf-turk0")]
    texts = {**TEXTS, "a-high-conf-turk0": Prediction("a-high-conf-turk0", "it slept", "s")}
    source = Source("squad", ("s",), rules="adversarial")
    found = scores(replace(ANSWERS, source=source, examples=both, predictions=texts))
    assert found["f1"] == 0.0 and found["unchanged_f1"] == 0.5


def test_baselines_look_for_what_is_given() -> None:
    assert baselines(ANSWERS)["most similar sentence"]["a"] == "An owl flew."
    asked = baselines(replace(ANSWERS, target="question"))
    assert asked["most similar sentence"] == {"a": "An owl flew.", "b": "It was in 1905."}
    pairs = [Example("p", "who ?", ("it slept .",))]
    assert baselines(replace(ANSWERS, target="question", examples=pairs)) == {}


def test_parts_are_scored_where_there_are_labels() -> None:
    mixed = [*EXAMPLES, Example("c", "Why?", ("So.",), answerable=False)]
    several = {
        key: Prediction(key, "x", "s", {"relevance": [0.2, 0.7], "answerable_probability": chance})
        for key, chance in (("a", 0.9), ("b", 0.4), ("c", 0.1))
    }
    found: dict[str, dict[str, float]] = {}
    for name, part in score_parts(mixed, several):
        found.setdefault(name, {}).update({row.name: float(row) for row in part.rows})
    assert found[""]["mrr"] == 0.5 and found["passages in the order given"]["mrr"] == 1.0
    assert found[""]["answerable_f1"] == pytest.approx(2 / 3)
    assert found[""]["best_answerable_f1"] == 1.0
    assert found["always answerable"]["answerable_f1"] == pytest.approx(4 / 5)
    assert score_parts(EXAMPLES, {"a": TEXTS["a"], "b": TEXTS["b"]}) == []


def test_prefixes_tell_styles_and_targets_apart() -> None:
    def experiment(**prefixes: str) -> Experiment:
        values = {"name": "x", "sources": [], "model": {"name": "SAN"}}
        return from_mapping({**values, "evaluation": {"prefixes": prefixes}})

    one, two = Source("examples", ("s",)), Source("examples", ("s", "l"))
    assert prefix_of(experiment(), one, "answer", "s") == ""
    assert prefix_of(experiment(), two, "answer", "l") == "l"
    assert prefix_of(experiment(), Source("msmarco", ("nlg",)), "answer", "nlg") == "nlg"
    assert prefix_of(experiment(answer="qa", question="qg"), two, "answer", "l") == "qa"
    assert prefix_of(experiment(question="qg"), one, "question", None) == "qg"
    assert prefix_of(experiment(), one, "question", None) == ""
    assert prefix_of(experiment(), two, "answer", "l", only_target=False) == "answer"
    assert prefix_of(experiment(answer="qa"), one, "answer", "s", only_target=False) == "qa"


def test_a_model_that_answers_and_asks_is_scored_without_settings(tmp_path: Path) -> None:
    """Both tasks have ROUGE-L; without prefixes in the settings their targets keep it apart."""

    class Both:
        tasks = (Task("answer", "answer", "s"), Task("ask", "question", "s"))
        only_asks = False
        model = None

        def predict(self, examples: Any, *, task: str, **options: Any) -> Any:
            for example in examples:
                text = example.answers["s"][0] if task == "answer" else "Who slept?"
                yield SimpleNamespace(to_json=lambda text=text: {"text": text}, alternatives=())

    source = Source("examples", ("s",), test="t.jsonl")
    settings = Evaluation(meteor=False)
    experiment = Experiment("x", (source,), {"name": "DAANet"}, evaluation=settings)
    tested = Tested(0, Splits(source, test=EXAMPLES), EXAMPLES, EXAMPLES)
    found = score_source(experiment, Both(), "digest", tested, tmp_path, "x")
    report = report_of(experiment, tested, [], found.systems, None)
    add_baselines(report, experiment, tested, found.main)
    values = {name: score.value for name, score in report.systems["x"].items()}
    assert values["answer_rouge_l"] == values["answer_f1"] == 1.0
    assert 0 < values["question_rouge_l"] < 1 and "rouge_l" not in values
    assert "question_rouge_l" in report.systems["most similar sentence"]


@pytest.mark.parametrize("spans", [None, "exact"])
def test_answers_are_scored_on_all_questions_and_questions_where_they_can_be_asked(
    spans: Any, tmp_path: Path
) -> None:
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
    experiment = Experiment("x", (source,), {"name": "DAANet"}, evaluation=Evaluation(meteor=False))
    tested = Tested(0, Splits(source, test=examples), examples, examples)
    found = score_source(experiment, Both(), "digest", tested, tmp_path, "x")
    report = report_of(experiment, tested, [], found.systems, None)
    add_baselines(report, experiment, tested, found.main)
    assert [example.id for example in shown["answer"]] == ["a", "b", "c", "d"]
    asked = ["a", "b"] if spans else ["a", "b", "c"]
    assert [example.id for example in shown["ask"]] == asked
    for system in ("x", "most similar sentence"):
        scores = report.systems[system]
        assert scores["answer_rouge_l"].size == 3
        assert scores["question_rouge_l"].size == len(asked)
    assert report.systems["x_human"]["question_duplication_rate"].size == len(asked)


def test_a_report_names_the_encoder() -> None:
    values = {"name": "x", "sources": [], "model": {"name": "SAN"}, "encoder": {"preset": "minilm"}}
    facts = {"steps": 1, "seconds": 60, "examples": 2, "ended_by": "x", "seed": 1, "weights": 3}
    details = details_of(from_mapping(values), [{**facts, "machine": machine()}])
    assert details["Encoder"] == "preset minilm"
