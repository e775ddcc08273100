"""The vote of several runs: weights from their reports, scores of the voted answers."""

import json

import pytest

from recipes.masque_ensemble.main import main
from tfmrc.data import Example, write_examples
from tfmrc.evaluation import read_predictions
from tfmrc.experiments.run_folder import describe_inputs

CONFIG = """
name: small
sources:
- {format: examples, styles: [short, long], train: test.jsonl, test: test.jsonl, title: own}
model: {name: Masque}
"""
EXAMPLES = [
    Example("a", "Who?", ("Ode.",), {"short": ("Ode",), "long": ("It was Ode.",)}, True),
    Example("b", "When?", ("Now.",), {"short": ("now",)}, True),
    Example("c", "Why?", ("So.",), {}, False),
]
# Two weak runs agree on "Ode"; the strong one is right on "now" against two different answers.
ANSWERS = {"1": ("Ode", "then", 0.3), "2": ("ode", "later", 0.2), "3": ("Ada", "now", 0.45)}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")  # without METEOR, which takes its time
    write_examples(tmp_path / "test.jsonl", EXAMPLES)
    made = []
    for name, (first, second, weight) in ANSWERS.items():
        folder = tmp_path / name / "evaluation" / "1-test-short-long"
        folder.mkdir(parents=True)
        (tmp_path / name / "config.yaml").write_text(CONFIG)
        files = describe_inputs([tmp_path / "test.jsonl"])
        (tmp_path / name / "inputs.json").write_text(json.dumps({"files": files}))
        for style in ("short", "long"):
            lines = [
                {"id": key, "style": style, "answer": text}
                for key, text in (("a", first), ("b", second), ("c", "x"))
            ]
            path = folder / f"predictions-{style}.jsonl"
            path.write_text("\n".join(map(json.dumps, lines)))
        score = {"value": weight, "label": "x"}
        scores = {"short_rouge_l": score, "long_rouge_l": score}
        (folder / "metrics.json").write_text(json.dumps({"systems": {"small": {"scores": scores}}}))
        made.append(tmp_path / name)
    return made


def test_the_vote_is_weighted_and_scored(tmp_path, runs):
    out = tmp_path / "ensemble"
    command = [*map(str, runs), "--data", str(tmp_path), "--run", str(out)]
    assert main(command) == 0
    folder = out / "evaluation" / "1-test-short-long"
    voted = read_predictions(folder / "predictions-short.jsonl")
    # "Ode" and "ode" are one answer of weight 0.5 against 0.45, spelled as the heavier run does.
    assert {key: p.answer for key, p in voted.items()} == {"a": "Ode", "b": "now"}
    metrics = json.loads((folder / "metrics.json").read_text())
    assert list(metrics["systems"]) == ["small_ensemble", *map(str, runs)]
    ours = metrics["systems"]["small_ensemble"]["scores"]
    assert ours["short_rouge_l"]["value"] == pytest.approx(1.0)
    assert ours["short_rouge_l"]["size"] == 2 and ours["long_rouge_l"]["size"] == 1
    assert metrics["dataset"] == "own" and "3 questions" in metrics["split"]
    alone = metrics["systems"][str(runs[2])]["scores"]["short_rouge_l"]["value"]
    assert alone == pytest.approx(0.5)
