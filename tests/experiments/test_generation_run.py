"""Models that write: questions about answers and pairs, the dual model and its baseline."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.recipes.small_squad import NAMES, squad
from tests.running import eagerly
from tfmrc import cli
from tfmrc.evaluation import read_predictions

QUESTIONS = """
name: maxout_pointer_qg_squad
sources: [{format: squad, title: SQuAD, train: train.json, test: dev.json, answerable_only: true}]
split: {validation_share: 0.3, validation_limit: 4, write_ids: true, draw_seed: 0}
vocabulary: {size: 40, num_oov_buckets: 2}
preprocessor: {passage_length: 12, question_length: 5, generation_vocabulary_size: 20}
model:
  {name: MaxoutPointerQG, word_dim: 4, hidden_dim: 4, num_layers: 1, attention: true,
   answer_tagging: true, copy: max, self_attention: true}
training: {epochs: 1, batch_size: 4, best_of: 4}
evaluation:
  {limit: 4, options: {num_beams: 2}, also: {greedy: {num_beams: 1}}, meteor: false, samples: 10}
grid: {variants: {s2s-a-at-mp-gsa_sentence: {preprocessor.context: sentence}}}
"""
DUAL = """
name: daanet_squad
sources: [{format: squad, title: SQuAD, train: train.json, test: dev.json, answerable_only: true}]
split: {validation_share: 0.3, validation_limit: 4}
vocabulary: {size: 40, num_oov_buckets: 2}
preprocessor:
  {passage_length: 12, question_length: 5, answer_length: 3, word_length: 4,
   generation_vocabulary_size: 20}
model:
  {name: DAANet, word_dim: 4, character_dim: 4, hidden_dim: 4, num_lstm_layers: 1, num_heads: 2,
   inner_dim: 4, blocks: [feed_forward, self_attention]}
training: {steps: 2, eval_every_steps: 1, batch_size: 4}
evaluation: {meteor: false, prefixes: {answer: qa, question: qg}}
grid:
  variants:
    daanet: {}
    s2s_answer:
      model:
        {name: MaxoutPointerQG, word_dim: 4, hidden_dim: 4, num_layers: 1, attention: true,
         answer_tagging: false, copy: null, self_attention: false}
      preprocessor:
        {passage_length: 18, question_length: 3, generation_vocabulary_size: 20,
         with_answers: false}
      sources.0.sequence: answer
      training.optimizer_of: DAANet
  seeds: [1]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.json").write_text(json.dumps(squad(NAMES)))
    (tmp_path / "dev.json").write_text(json.dumps(squad(("Gus", "Hal"))))
    return tmp_path


def run(folder: Path, settings: str) -> dict[str, Any]:
    """Trains and evaluates; the systems of the table."""
    (folder / "recipe.yaml").write_text(settings)
    place = str(folder / "run")
    with eagerly():
        train = ["train", str(folder / "recipe.yaml"), "--data", str(folder), "--run", place]
        assert cli.main(train) == 0
        assert cli.main(["evaluate", place]) == 0
    [path] = (folder / "run" / "evaluation").glob("*/metrics.json")
    report: dict[str, Any] = json.loads(path.read_text())
    return report


def test_questions_are_scored_by_two_searches(folder):
    report = run(folder, QUESTIONS)
    systems = report["systems"]
    name = "maxout_pointer_qg_squad_s2s-a-at-mp-gsa_sentence"
    for system in (name, f"{name}_greedy"):
        scores = systems[system]["scores"]
        assert {"bleu_4", "rouge_l", "duplication_rate"} <= scores.keys()
        assert scores["rouge_l"]["size"] == 4 and "interval" in scores["rouge_l"]
    assert systems["maxout_pointer_qg_squad_human"]["scores"]["duplication_rate"]["size"] == 4
    baselines = ("first sentence", "most similar sentence")
    compared = {(part["system"], part["other"]) for part in report["differences"]}
    assert compared == {(f"{name}_greedy", name)} | {
        (own, other) for own in (name, f"{name}_greedy") for other in baselines
    }
    assert report["paper"][name]["bleu_4"] == 15.32
    assert report["paper"][f"{name}_greedy"]["bleu_4"] == 13.28
    own = folder / "run" / "s2s-a-at-mp-gsa_sentence-1" / "evaluation" / "1-dev-span"
    found = read_predictions(own / "predictions-ask.jsonl")
    greedy = read_predictions(own / "predictions-ask-greedy.jsonl")
    assert len(found) == len(greedy) == 4
    assert all(0 < p.scores["probability"] <= 1 and p.scores["answer"] for p in found.values())
    for picture in ("self_attention.svg", "learning_curves.png", "samples.md"):
        assert (own / picture).stat().st_size > 100
    assert (folder / "run" / "evaluation" / "1-dev-span" / "duplication.svg").is_file()
    ids = {p.stem: p.read_text().split() for p in (folder / "run" / "ids").glob("*.txt")}
    assert ids["test"] == list(found) and len(ids["validation"]) == 4
    assert not set(ids["train"]) & set(ids["validation"])


@pytest.mark.slow
def test_a_dual_model_beside_a_sequence_to_sequence_model(folder):
    report = run(folder, DUAL)
    systems = report["systems"]
    dual, baseline = systems["daanet_squad_daanet"], systems["daanet_squad_s2s_answer"]
    assert {"qa_bleu_4", "qg_rouge_l", "qa_f1"} <= dual["scores"].keys()
    assert not any(name.startswith("qg_") for name in baseline["scores"])
    assert baseline["scores"]["qa_rouge_l"]["size"] == dual["scores"]["qa_rouge_l"]["size"] == 6
    assert report["paper"]["daanet_squad_daanet"]["qa_rouge_l"] == 43.85
    assert report["paper"]["daanet_squad_s2s_answer"] == {
        name: figure
        for name, figure in report["paper"]["daanet_squad_s2s_answer"].items()
        if name.startswith("qa_")
    }
    for task in ("qa", "qg"):
        assert systems["most similar sentence"]["scores"][f"{task}_rouge_l"]["value"] > 0
    target = folder / "run" / "evaluation" / "1-dev-span"
    for picture in ("answer_curves.png", "ask_curves.svg"):
        assert (target / picture).stat().st_size > 1000
    page = (target / "samples.md").read_text().replace("\\", "")
    assert "| span, daanet |" in page and "| question, daanet |" in page
    assert "| answer, s2s_answer |" in page or "| s2s_answer |" in page
    found = read_predictions(
        folder / "run/s2s_answer-1/evaluation/1-dev-span/predictions-ask.jsonl"
    )
    assert len(found) == 6 and not any(key.endswith("x") for key in found)
