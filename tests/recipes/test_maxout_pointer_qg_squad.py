"""The recipe of question generation: splits, a tiny run from end to end, and its report."""

import json

import pytest

from recipes.maxout_pointer_qg_squad import main, settings, splits
from tfmrc.models.maxout_pointer_qg import VARIANTS


def squad(path, articles):
    """A SQuAD file: each article one paragraph of two sentences, a question about each."""
    found = []
    for number in range(articles):
        name, other = f"Bo{number}", f"Ada{number}"
        context = f"The king met {name} in 19{number:02}. The queen met {other}."
        questions = [
            {
                "id": f"{path.stem}-{number}-{answer}",
                "question": f"Who met {answer}?",
                "answers": [{"text": answer, "answer_start": context.index(answer)}],
            }
            for answer in (name, other)
        ]
        paragraphs = [{"context": context, "qas": questions}]
        found.append({"title": f"{path.stem} {number}", "paragraphs": paragraphs})
    path.write_text(json.dumps({"version": "1.1", "data": found}), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    squad(folder / "train.json", 12)
    squad(folder / "dev.json", 8)
    return folder


@pytest.fixture(scope="module")
def config(folder):
    path = folder / "config.yaml"
    path.write_text(
        "{name: tiny, train: train.json, test: dev.json, contexts: [sentence], "
        "variants: [s2s-a-at-mp-gsa], model: {word_dim: 8, hidden_dim: 8, num_layers: 1}, "
        "vocabulary_size: 40, generation_vocabulary_size: 12, num_oov_buckets: 2, batch_size: 4, "
        "passage_length: 30, question_length: 6, epochs: 1, validation_share: 0.3, num_beams: 2}",
        encoding="utf-8",
    )
    return path


def test_the_shipped_settings_name_known_variants():
    for name in ("config.yaml", "paper_size.yaml"):
        made = settings.load(main.HERE / name)
        assert set(made.variants) == set(VARIANTS)
    with pytest.raises(ValueError, match="cannot be read"):
        settings.load(main.HERE / "config.yaml", ["--no_such_thing=1"])


def test_split1_by_article_and_split2_by_sentence(folder, config):
    made = settings.load(config)
    parts = splits.make(made, folder)
    articles = {name: {e.group for e in examples} for name, examples in parts.items()}
    assert not articles["train"] & articles["dev"] and articles["dev"]
    assert len(parts["train"]) + len(parts["dev"]) == 24 and len(parts["test"]) == 16
    other = splits.make(settings.load(config, ["--split=split2"]), folder)
    groups = {name: {e.group for e in other[name]} for name in ("dev", "test")}
    assert not groups["dev"] & groups["test"]
    assert len(other["dev"]) + len(other["test"]) == 16 and len(other["train"]) == 24
    # Some article has a sentence on either side.
    titles = [{group.split("\t")[0] for group in groups[name]} for name in ("dev", "test")]
    assert titles[0] & titles[1]
    with pytest.raises(ValueError, match="split='split3'"):
        splits.make(settings.load(config, ["--split=split3"]), folder)


def test_from_a_file_to_the_report_and_again(folder, config, tmp_path, capsys):
    arguments = ["--config", str(config), "--data", str(folder), "--run", str(tmp_path)]
    assert main.main(arguments) == 0
    run = tmp_path / "s2s-a-at-mp-gsa-sentence"
    table = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| sentence | s2s-a-at-mp-gsa | greedy |" in table and "(43.47)" in table
    lines = (run / "questions-beam-2.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 16 and 0 <= json.loads(lines[0])["probability"] <= 1
    for name in ("learning_curves.png", "self_attention.svg"):
        assert (run / name).is_file()
    assert (tmp_path / "duplication.png").is_file()
    ids = (tmp_path / "ids" / "test.txt").read_text(encoding="utf-8").split()
    assert len(ids) == 16
    before = (run / "training.json").stat().st_mtime_ns
    assert main.main(arguments) == 0
    assert (run / "training.json").stat().st_mtime_ns == before


def test_data_that_is_not_there_is_said(config, tmp_path, capsys):
    arguments = ["--config", str(config), "--data", str(tmp_path), "--run", str(tmp_path / "r")]
    assert main.main(arguments) == 1
    assert "The recipe failed" in capsys.readouterr().err
