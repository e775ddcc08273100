"""The recipe from a SQuAD file to its table, small."""

import json

import pytest
import yaml

from recipes.san_squad import main
from recipes.san_squad.settings import Settings

NAMES = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")
SETTINGS = {
    "name": "tiny",
    "train": "squad/train.json",
    "test": "squad/dev.json",
    "test_limit": 5,
    "vocabulary": {"size": 60, "num_oov_buckets": 4},
    "features": {"passage_length": 12, "question_length": 8, "answer_length": 3, "stride": 6},
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


def squad(names):
    """An article a name; one answer is a part of a word, one question has no answer."""
    articles = []
    for name in names:
        context = f"{name}-Lee met an owl near the mill."
        answers = [("Who met an owl?", f"{name}-Lee"), ("What did she meet?", "an owl")]
        answers.append(("Whose?", name[:1]))
        qas = [
            {
                "id": f"{name}-{number}",
                "question": question,
                "answers": [{"text": text, "answer_start": context.index(text)}],
            }
            for number, (question, text) in enumerate(answers)
        ]
        qas.append({"id": f"{name}-x", "question": "Why?", "answers": [], "is_impossible": True})
        articles.append({"title": name, "paragraphs": [{"context": context, "qas": qas}]})
    return {"version": "2.0", "data": articles}


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "data" / "squad"
    folder.mkdir(parents=True)
    (folder / "train.json").write_text(json.dumps(squad(NAMES)))
    (folder / "dev.json").write_text(json.dumps(squad(("Gus", "Hal"))))
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(SETTINGS))
    return tmp_path


def run(place, command, *more):
    places = ["--config", place / "tiny.yaml", "--data", place / "data", "--runs", place / "runs"]
    return main.main([command, *map(str, places), *more])


def test_from_the_file_to_the_table(place, capsys):
    chosen = ["--answers", "stochastic", "--seeds", "1"]
    assert run(place, "table", *chosen) == 0
    facts = json.loads((place / "runs" / "stochastic-1" / "training.json").read_text())
    counts = facts["alignment"]
    assert sum(counts.values()) == facts["examples"] and counts["part_of_a_word"] > 0
    assert facts["steps"] == 2 * (facts["examples"] // 8)
    table = json.loads((place / "runs" / "table.json").read_text())
    (found,) = table["modules"]["stochastic"]
    assert 0 <= found["exact_match"] <= found["f1@1"] <= found["f1@4"] <= 1
    answers = json.loads((place / "runs" / "stochastic-1" / "answers.json").read_text())
    assert len(answers) == 5 and not any(key.endswith("x") for key in answers)
    for name in ("oracle", "question_words", "learning_stochastic"):
        assert (place / "runs" / f"{name}.png").stat().st_size > 1000
    text = (place / "runs" / "table.md").read_text()
    assert "| SAN, 5 steps | 1 |" in text and "| 76.235 | 84.056 |" in text
    # Again: nothing is trained anew.
    capsys.readouterr()
    assert run(place, "table", *chosen) == 0
    assert "weights" not in capsys.readouterr().out


def test_what_is_wrong_is_said(place, capsys):
    (place / "tiny.yaml").write_text(yaml.safe_dump({**SETTINGS, "depth": 3}))
    assert run(place, "train") == 1
    assert "depth" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["config.yaml", "paper_size.yaml"])
def test_shipped_settings_load(name):
    settings = Settings.load(main.HERE / name)
    assert settings.features["stride"] <= settings.features["passage_length"]
