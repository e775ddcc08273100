"""A grid from its YAML file to one table: SAN with two answer modules and two seeds."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import yaml

import tfmrc
from tests.encoders import torch_files
from tests.recipes.small_squad import NAMES, squad
from tests.running import eagerly
from tfmrc import Predictor, cli, data, experiments
from tfmrc.encoders import load_cove
from tfmrc.evaluation import read_predictions
from tfmrc.experiments.answering import digest_of
from tfmrc.experiments.reporting import model_details
from tfmrc.ops.ids import NUM_SPECIAL
from tfmrc.predictors import SANPredictor

CONFIG = """
name: san_squad
sources:
- {format: squad, title: SQuAD, train: squad/train.json, test: squad/dev.json,
   answerable_only: true, rules: squad}
split: {validation_share: 0.3, validation_limit: null}
vocabulary: {size: 60, num_oov_buckets: 4}
preprocessor: {passage_length: 12, question_length: 8, answer_length: 3, stride: 6}
model: {name: SAN, word_dim: 4, units: 2, align_dim: 2, num_layers: 1, num_steps: 2}
training: {epochs: 1, batch_size: 8}
evaluation: {limit: 5, options: {num_return_sequences: 4}, ensemble: true}
grid:
  variants: {one_step: {model.answer: one_step}, stochastic: {model.answer: stochastic}}
  seeds: [1, 2]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Data, settings, and three trained runs."""
    folder = tmp_path_factory.mktemp("grid")
    (folder / "squad").mkdir()
    (folder / "squad" / "train.json").write_text(json.dumps(squad(NAMES)))
    (folder / "squad" / "dev.json").write_text(json.dumps(squad(("Gus", "Hal"))))
    (folder / "grid.yaml").write_text(CONFIG)
    with eagerly():
        assert train(folder, "--variants", "stochastic") == 0
        assert train(folder, "--variants", "one_step", "--seeds", "1") == 0
    return folder


def train(folder: Path, *more: str, name: str = "grid.yaml", run: str = "run") -> int:
    places = ["--data", str(folder), "--run", str(folder / run)]
    return cli.main(["train", str(folder / name), *places, *more])


def evaluate(folder: Path, *more: str, run: str = "run") -> int:
    with eagerly():
        return cli.main(["evaluate", str(folder / run), *more])


def metrics(folder: Path, source: str = "1-dev-span", run: str = "run") -> dict[str, Any]:
    """The systems of a report: by name the scores."""
    path = folder / run / "evaluation" / source / "metrics.json"
    systems = json.loads(path.read_text())["systems"]
    return {name: part["scores"] for name, part in systems.items()}


def test_runs_share_words_and_say_what_they_took(place):
    names = {path.name for path in (place / "run").iterdir() if path.is_dir()}
    assert names == {"one_step-1", "stochastic-1", "stochastic-2"}
    assert not (place / "run" / "stochastic-1" / "vocabulary.txt").exists()
    facts = json.loads((place / "run" / "stochastic-2" / "training.json").read_text())
    assert (facts["variant"], facts["seed"]) == ("stochastic", 2)
    assert facts["without_a_span"] == 0
    assert facts["steps"] == facts["examples"] // 8


def test_one_table_with_means_ensemble_and_pictures(place, capsys, monkeypatch):
    monkeypatch.setattr("tfmrc.evaluation.metrics.squad.SMALLEST_GROUP", 1)
    assert evaluate(place) == 0
    path = place / "run" / "stochastic-2" / "evaluation" / "1-dev-span" / "predictions-answer.jsonl"
    found = read_predictions(path)
    assert len(found) == 5 and not any(key.endswith("x") for key in found)
    assert all(len(p.alternatives) == 3 for p in found.values())
    # A run that is always right: the table is made of its predictions, and no model is loaded.
    digest = experiments.open_model(place / "run" / "stochastic-2").digest
    examples = {e.id: e for e in data.read_squad(place / "squad" / "dev.json")}
    lines = [
        {
            "id": key,
            "answer": examples[key].answers["span"][0],
            "style": "answer",
            "alternatives": ["an elk"],
            "digest": digest_of(examples[key], "answer", digest, {"num_return_sequences": 4}),
        }
        for key in found
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with monkeypatch.context() as patched:
        patched.setattr("tfmrc.predictors.load.load", None)
        assert evaluate(place, "--set", "evaluation.ensemble=false") == 0
    assert "san_squad_stochastic_ensemble" not in metrics(place)
    capsys.readouterr()
    assert evaluate(place) == 0
    table = metrics(place)
    single = metrics(place, run="run/stochastic-1")["san_squad_stochastic"]
    mean = table["san_squad_stochastic"]
    assert mean["f1"]["value"] == pytest.approx((single["f1"]["value"] + 1) / 2)
    assert mean["f1"]["values"] == [single["f1"]["value"], 1.0] and "deviation" in mean["f1"]
    assert mean["f1@1"]["value"] == mean["f1"]["value"] and "f1@2" in mean
    assert "f1@4" in single and "f1@4" not in mean  # the other run has two answers each
    assert {"f1_who", "f1_what", "exact_match_who"} <= mean.keys()
    assert 0 <= table["san_squad_stochastic_ensemble"]["f1"]["value"] <= 1
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) <= 12 and printed[-1].endswith("report.md")
    assert " ± " in "".join(printed) and "stochastic – san_squad_one_step" in "".join(printed)
    folder = place / "run" / "evaluation" / "1-dev-span"
    page = (folder / "report.md").read_text()
    assert " ± " in page and "| 76.23 |" in page and "most similar sentence" in page
    assert "3 runs of " in page and "one_step" in page
    for picture in ("learning_curves", "oracle", "question_words"):
        assert (folder / f"{picture}.png").stat().st_size > 1000
    samples = (folder / "samples.md").read_text()
    assert "| span, stochastic |" in samples.replace("\\", "")


def test_a_prediction_belongs_to_the_ranker_that_ordered_it(place, monkeypatch):
    monkeypatch.setattr("tfmrc.predictors.MasqueRanker", lambda predictor: predictor)
    run = place / "run" / "one_step-1"
    shutil.copytree(place / "run" / "stochastic-1", place / "ranker")
    plain, ranked, trained = (
        experiments.read_settings(run / "config.yaml", f"evaluation.ranker={ranker}")
        for ranker in ("null", "tfidf", place / "ranker")
    )

    def digest(settings):
        return experiments.open_model(run, settings=settings).digest

    digests = {digest(settings) for settings in (plain, ranked, trained)}
    predictor = place / "ranker" / "predictor"
    tfmrc.load(place / "run" / "stochastic-2").save(predictor)
    assert len(digests | {digest(trained)}) == 4
    train_file = place / "squad" / "train.json"
    before = train_file.read_bytes()
    train_file.write_bytes(before + b"\n")  # whose words a TF-IDF ranker counts
    try:
        assert digest(ranked) not in digests and digest(plain) in digests
    finally:
        train_file.write_bytes(before)


def test_an_export_has_the_scores_of_its_model_and_options_alone(place, monkeypatch):
    run = place / "run" / "one_step-1"
    scores = run / "evaluation" / "squad" / "metrics.json"
    scores.parent.mkdir(parents=True, exist_ok=True)
    plain = experiments.read_settings(run / "config.yaml")
    short = experiments.read_settings(run / "config.yaml", "evaluation.options.max_length=3")
    digest = experiments.open_model(run).digest
    ours, limited = (model_details(digest, each.evaluation.options) for each in (plain, short))
    assert ours["Model"] == limited["Model"] == f"sha256 {digest[:16]}"
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(SANPredictor, "export", lambda _, path, **given: seen.append(given) or path)
    limit = {"max_length": 3}
    for details, options in ((ours, {}), (ours, limit), (limited, limit), ({"Model": "0"}, {})):
        scores.write_text(json.dumps({"details": details}))
        experiments.export(run, place / "export" / "1", options=options)
    shutil.rmtree(scores.parent)
    assert ["squad" in given["metrics"] for given in seen] == [True, False, True, False]
    with pytest.raises(ValueError, match="which only training can change.*seed=7"):
        other = experiments.read_settings(run / "config.yaml", "seed=7")
        experiments.evaluate_run(run, settings=other)


def test_tags_and_vectors(place):
    """By a pipeline of rules: the tags are kept, and no run needs the pipeline after that."""
    pipeline = spacy.blank("en")
    rules = pipeline.add_pipe("attribute_ruler")
    rules.add([[{"LOWER": "met"}]], {"TAG": "VBD", "LEMMA": "meet"})  # type: ignore[attr-defined]
    pipeline.to_disk(place / "pipeline")
    tagged = yaml.safe_load(CONFIG) | {"tagger": str(place / "pipeline"), "grid": {"seeds": [1]}}
    tagged["vocabulary"]["vectors"] = "vectors.txt"
    tagged["contextual"] = {"cove": "cove.pth"}
    torch_files.write(place / "cove.pth", torch_files.tensors(torch_files.cove_weights(dim=4)))
    (place / "vectors.txt").write_text("owl 1 2 3 4\nyak 5 6 7 8\n")
    (place / "tags.yaml").write_text(yaml.safe_dump(tagged))
    run = str(place / "tagged")
    prepare = ["prepare", str(place / "tags.yaml"), "--data", str(place), "--run", run]
    assert cli.main(prepare) == 0
    cache = place / "tagged" / "tags.jsonl"
    lines = cache.read_text().splitlines()
    (place / "pipeline").rename(place / "moved")
    with eagerly():
        assert train(place, name="tags.yaml", run="tagged") == 0
    assert evaluate(place, run="tagged") == 0
    assert cache.read_text().splitlines() == lines  # nothing was left to be tagged
    predictor: Any = Predictor.load(place / "tagged" / "seed-1" / "predictor")
    assert predictor.preprocessor.get_config()["pos_tags"] == ["VBD"]
    assert predictor.model.get_config()["num_exact_match"] == 3
    assert predictor.model.get_config()["tagger"] == json.loads(lines[0])["tagger"]
    facts = json.loads((place / "tagged" / "seed-1" / "training.json").read_text())
    assert 0 < facts["words_with_a_vector"] < 1
    report = (place / "tagged" / "evaluation" / "1-dev-span" / "report.md").read_text()
    assert "Word vectors: vectors.txt, for " in report
    assert "Contextual embedding: cove (cove.pth)." in report
    row = predictor.preprocessor.vocabulary.words.index("owl") - NUM_SPECIAL
    assert predictor.model.word_embedding.words.numpy()[row].shape == (4,)
    cove = predictor.model.contextual_embedding
    for ours, file in zip(cove.weights, load_cove(place / "cove.pth").weights, strict=True):
        assert np.array_equal(ours.numpy(), file.numpy())  # fixed, and saved with the predictor


def test_variants_that_are_tested_on_other_questions_are_in_no_table(place, capsys):
    few = "grid.variants.stochastic.evaluation.limit=2"
    chosen = ["--seeds", "1", "--set", "evaluation.ensemble=false", few]
    assert evaluate(place, *chosen) == 0
    assert "is tested on other questions and in no table" in capsys.readouterr().out
    shown = {system for system in metrics(place) if system.endswith(("one_step", "stochastic"))}
    assert shown == {"san_squad_one_step"}
