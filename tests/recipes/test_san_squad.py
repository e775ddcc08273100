"""The recipe from a SQuAD file to its reports, small."""

import json
import shutil

import pytest
import spacy
import yaml

from recipes.san_squad import main
from recipes.san_squad.settings import Settings, answerable
from recipes.san_squad.tags import Tags
from tests.running import eagerly
from tfmrc import Predictor
from tfmrc.evaluation import find_runs, read_rows, states
from tfmrc.ops.ids import NUM_SPECIAL

NAMES = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")
SETTINGS = {
    "name": "san_squad",
    "train": "squad/train.json",
    "test": "squad/dev.json",
    "test_limit": 5,
    "vocabulary": {"size": 60, "num_oov_buckets": 4},
    "preprocessor": {"passage_length": 12, "question_length": 8, "answer_length": 3, "stride": 6},
    "model": {"word_dim": 4, "units": 2, "align_dim": 2, "num_layers": 1, "num_steps": 2},
    "training": {
        "epochs": 2,
        "batch_size": 8,
        "learning_rate": 0.002,
        "epochs_per_halving": 10,
        "validation_share": 0.3,
        "validation_limit": None,
        "max_minutes": None,
    },
}


def squad(names, variant=""):
    """An article a name; one answer is a part of a word, one question has no answer."""
    articles = []
    for name in names:
        context = f"{name}-Lee met an owl near the mill."
        answers = [("Who met an owl?", f"{name}-Lee"), ("What did she meet?", "an owl")]
        answers.append(("Whose?", name[:1]))
        qas = [
            {
                "id": f"{name}{number}{variant}",
                "question": question,
                "answers": [{"text": text, "answer_start": context.index(text)}],
            }
            for number, (question, text) in enumerate(answers)
        ]
        qas.append({"id": f"{name}x", "question": "Why?", "answers": [], "is_impossible": True})
        if variant:
            context += " Zoe met an elk near the tarn."
        articles.append({"title": name, "paragraphs": [{"context": context, "qas": qas}]})
    return {"version": "2.0", "data": articles}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Data, settings, and one run, trained with three steps, which stands for two seeds too."""
    made = tmp_path_factory.mktemp("san_squad")
    folder = made / "data" / "squad"
    folder.mkdir(parents=True)
    (folder / "train.json").write_text(json.dumps(squad(NAMES)))
    (folder / "dev.json").write_text(json.dumps(squad(("Gus", "Hal"))))
    (made / "tiny.yaml").write_text(yaml.safe_dump(SETTINGS))
    with eagerly():
        assert run(made, "trained_steps", "--counts", 3) == 0
        for seed in (1, 2):
            copy = made / "runs" / f"stochastic-{seed}"
            shutil.copytree(made / "runs" / "stochastic-3steps-1", copy)
        yield made


def run(place, command, *more, config="tiny.yaml", runs="runs"):
    places = ["--config", place / config, "--data", place / "data", "--runs", place / runs]
    return main.main([command, *map(str, places), *map(str, more)])


def dev(place):
    return place / "data" / "squad" / "dev.json"


def metrics(place, name):
    """The systems of a report: by name the values of their scores."""
    found = json.loads((place / "runs" / "evaluation" / name / "metrics.json").read_text())
    return {
        system: {name: score["value"] for name, score in part["scores"].items()}
        for system, part in found["systems"].items()
    }


def state(place, row):
    rows = [found for found in read_rows(main.HERE.parent / "reproduction.yaml") if found.id == row]
    return states(rows, find_runs([place / "runs"]), main.HERE.parent)[0]


def test_training_says_what_it_took(place, capsys):
    facts = json.loads((place / "runs" / "stochastic-1" / "training.json").read_text())
    counts = facts["alignment"]
    assert sum(counts.values()) == facts["examples"] and counts["part_of_a_word"] > 0
    assert facts["steps"] == 2 * (facts["examples"] // 8)
    assert run(place, "train") == 0  # again: nothing is trained anew
    assert "weights" not in capsys.readouterr().out


def test_modules_seeds_and_pictures(place, capsys):
    answers = place / "runs" / "stochastic-2" / "answers.json"
    chosen = ["--answers", "stochastic", "--seeds", 1, 2]
    assert run(place, "table", *chosen) == 0
    found = json.loads(answers.read_text())
    assert len(found) == 5 and not any(key.endswith("x") for key in found)
    single = metrics(place, "seeds")
    assert single["stochastic-1"] == single["stochastic-2"]
    # A second run that is always right: its answers are taken as they lie there.
    right = {example.id: example.answers["span"][0] for example in answerable(dev(place))}
    answers.write_text(json.dumps({key: [[right[key], 0, 1, 1.0]] * 4 for key in found}))
    assert run(place, "table", *chosen) == 0
    single, mean = metrics(place, "seeds"), metrics(place, "modules")["san_squad_stochastic"]
    assert single["stochastic-2"] == {"exact_match": 1.0, "f1": 1.0}
    assert mean["f1"] == pytest.approx((single["stochastic-1"]["f1"] + 1) / 2)
    assert single["san_squad_2_seeds"] == mean
    best = metrics(place, "oracle")["san_squad_stochastic"]
    assert mean["f1"] == best["f1@1"] <= best["f1@4"] <= 1
    words = metrics(place, "question_words")["san_squad_stochastic"]
    assert {"f1_who", "f1_what", "exact_match_who"} <= words.keys()
    said = capsys.readouterr().out
    assert " ± " in said and "| 76.23 |" in said and "most similar sentence" in said
    assert "2 runs of " in said
    assert state(place, "san-t1").state == "run on less data"
    assert state(place, "san-f3").results and state(place, "san-f4").results
    for picture in ("modules/learning_curves", "oracle/oracle", "question_words/question_words"):
        assert (place / "runs" / "evaluation" / f"{picture}.png").stat().st_size > 1000


def test_steps_in_training_and_in_testing(place):
    assert run(place, "trained_steps", "--counts", 2, 3) == 0  # two are those of the settings
    assert sorted(metrics(place, "trained_steps")) == ["san_squad_trained_2", "san_squad_trained_3"]
    kept = (place / "runs" / "stochastic-3steps-1" / "predictor" / "config.json").read_text()
    assert json.loads(kept)["model"]["config"]["num_steps"] == 3
    assert run(place, "steps", "--counts", 1, 2, 3) == 0
    tested = metrics(place, "tested_steps")
    assert len(tested) == 3
    of_run = json.loads((place / "runs" / "stochastic-1" / "metrics.json").read_text())["systems"]
    assert tested["san_squad_tested_3"]["f1"] == of_run["stochastic"]["scores"]["f1"]["value"]
    assert [len(state(place, row).results) for row in ("san-t4", "san-t6")] == [2, 3]


def test_an_ensemble_of_equals_answers_as_one(place, capsys):
    assert run(place, "ensemble", "--seeds", 1, 2) == 0
    folder = place / "runs" / "evaluation" / "ensemble-stochastic-1-2"
    together = json.loads((folder / "answers.json").read_text())
    alone = json.loads((place / "runs" / "stochastic-1" / "answers.json").read_text())
    assert {key: best[0][:3] for key, best in together.items()} == {
        key: best[0][:3] for key, best in alone.items()
    }
    assert len(state(place, "san-t2").results) == 2
    assert run(place, "ensemble", "--seeds", 1) == 1
    assert "seeds=[1]" in capsys.readouterr().err


def test_adversarial_questions_count_as_their_worst_variant(place, capsys):
    both = squad(("Gus",))
    both["data"] += squad(("Gus",), "-high-conf-turk0")["data"]
    file = place / "sample1k-HCVerifyAll.json"
    file.write_text(json.dumps(both))
    assert run(place, "adversarial", "--file", file) == 0
    found = metrics(place, "adversarial-AddSent")["san_squad_AddSent"]
    assert 0 <= found["f1"] <= found["unchanged_f1"] <= 1
    [result] = state(place, "san-t5").results
    assert result.size == 3 and "6 variants" in result.split
    assert run(place, "adversarial") == 1
    assert "--file" in capsys.readouterr().err


def test_words_with_tags_and_vectors(place):
    """By a pipeline of rules: the preprocessor are trained, kept in the predictor, and made when read."""
    pipeline = spacy.blank("en")
    rules = pipeline.add_pipe("attribute_ruler")
    rules.add([[{"LOWER": "met"}]], {"TAG": "VBD", "LEMMA": "meet"})
    pipeline.to_disk(place / "pipeline")
    settings = {**SETTINGS, "tags": True, "tagger": str(place / "pipeline")}
    settings["training"] = {**SETTINGS["training"], "epochs": 1}
    settings["vectors"] = "vectors.txt"
    (place / "data" / "vectors.txt").write_text("owl 1 2 3 4\nyak 5 6 7 8\n")
    (place / "tags.yaml").write_text(yaml.safe_dump(settings))
    options = {"config": "tags.yaml", "runs": "tagged"}
    assert run(place, "tags", **options) == 0
    cache = place / "tagged" / "tags.jsonl"
    lines = cache.read_text().splitlines()
    # From here on no text needs the pipeline.
    (place / "pipeline").rename(place / "moved")
    assert run(place, "seeds", "--seeds", 1, **options) == 0
    assert cache.read_text().splitlines() == lines  # nothing was left to be tagged
    config = json.loads(
        (place / "tagged" / "stochastic-1" / "predictor" / "config.json").read_text()
    )
    assert config["preprocessor"]["config"]["pos_tags"] == ["VBD"]
    assert config["model"]["config"]["num_exact_match"] == 3
    assert config["model"]["config"]["tagger"] == json.loads(lines[0])["tagger"]
    with pytest.raises(ValueError, match="tagger='other'"):
        Tags.of("other", place / "tagged")
    with pytest.raises(ValueError, match="not installed"):
        Tags.of(settings["tagger"], place / "tagged").cache.add(["A new text."])
    report = (place / "tagged" / "evaluation" / "seeds" / "report.md").read_text()
    assert "| san_squad_1_seeds | 5 |" in report and "Word vectors: vectors.txt, for " in report
    predictor = Predictor.load(place / "tagged" / "stochastic-1" / "predictor")
    row = predictor.preprocessor.vocabulary.words.index("owl") - NUM_SPECIAL
    assert predictor.model.word_embedding.words.numpy()[row].tolist() == [1, 2, 3, 4]


def test_what_is_wrong_is_said(place, capsys):
    (place / "wrong.yaml").write_text(yaml.safe_dump({**SETTINGS, "depth": 3}))
    assert run(place, "train", config="wrong.yaml") == 1
    assert "depth" in capsys.readouterr().err
    assert run(place, "tags") == 1
    assert "tags=False" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["config.yaml", "paper_size.yaml"])
def test_shipped_settings_load(name):
    settings = Settings.load(main.HERE / name)
    assert settings.preprocessor["stride"] <= settings.preprocessor["passage_length"]
