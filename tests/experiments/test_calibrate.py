"""`tfmrc calibrate`: what it writes, and what becomes of it."""

import json

import numpy as np
import pytest

import tfmrc
from tests.predictors.small import extractive_reader
from tfmrc import cli, storage
from tfmrc.experiments import open_model

WORDS = "the owl named a mill hill how high is it 1 m".split()


@pytest.fixture(scope="module")
def predictor():
    return extractive_reader()


@pytest.fixture
def questions(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        {"id": str(number), "question": "Who named it?", "passages": [" ".join(words)],
         "answers": {"qa": [str(words[number % 3])]}}
        for number, words in enumerate(rng.permuted([WORDS] * 24, axis=1))
    ]  # fmt: skip
    path = tmp_path / "held_out.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_saved_predictor_is_calibrated(predictor, questions, tmp_path, capsys, without_graphs):
    folder = predictor.save(tmp_path / "run" / "predictor")
    before = open_model(folder).digest
    command = ["calibrate", str(folder.parent), "--input", str(questions)]
    assert cli.main([*command, "--precision", "1.0"]) == 0
    written = json.loads((folder / "calibration.json").read_text())
    assert "| Brier score | " in capsys.readouterr().out
    assert (written["precision"], written["data"]) == (1.0, "held_out.jsonl")
    assert written["size"] == 24
    assert {"calibration.md", "calibration.png", "calibration.svg"} <= {
        path.name for path in folder.iterdir()
    }
    storage.verify(folder)
    assert open_model(folder).digest != before
    loaded = tfmrc.load(folder.parent)
    assert loaded.calibration.slope == written["slope"]
    # Commands say what was not found, and SQuAD's form has no text for it.
    options = ["--option", "min_probability=1.0", "--format"]
    predict = ["predict", str(folder), "--input", str(questions), *options]
    assert cli.main([*predict, "answers"]) == 0
    assert capsys.readouterr().out.startswith("No confident answer. Best guess: ")
    assert cli.main([*predict, "squad"]) == 0
    assert set(json.loads(capsys.readouterr().out).values()) == {""}
    # As a training that ends: the new predictor replaces the old one and its calibration.
    assert tfmrc.load(predictor.save(folder)).calibration is None
    assert not (folder / "calibration.md").exists()


def test_a_reader_without_digests_and_folders_that_are_refused(
    predictor, questions, tmp_path, capsys, without_graphs
):
    folder = predictor.save_hugging_face(tmp_path / "reader")
    (folder / "manifest.json").unlink()
    before = open_model(folder).digest
    assert cli.main(["calibrate", str(folder), "--input", str(questions)]) == 0
    assert tfmrc.load(folder).calibration.precision == 0.9
    assert open_model(folder).digest != before and not (folder / "manifest.json").exists()
    export = predictor.export(tmp_path / "exports" / "1")
    for name, words in ((export, "not of an export."), ("hf://a/b", "There is no saved predictor")):
        assert cli.main(["calibrate", str(name), "--input", str(questions)]) == 1
        assert words in capsys.readouterr().err
