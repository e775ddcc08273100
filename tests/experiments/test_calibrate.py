"""`tfmrc calibrate`: what it writes, and what becomes of it."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tfmrc
from tests.predictors.small import extractive_reader
from tfmrc import cli, data, storage
from tfmrc.data import Example
from tfmrc.experiments import open_model, run_folder as folders
from tfmrc.experiments.examples.rows import row_digest, write_rows

WORDS = "the owl named a mill hill how high is it 1 m".split()


@pytest.fixture(scope="module")
def predictor():
    return extractive_reader()


@pytest.fixture
def questions(predictor, tmp_path, without_graphs):
    """Every other one has the predictor's own answer."""
    texts = [" ".join(words) for words in np.random.default_rng(0).permuted([WORDS] * 24, axis=1)]
    asked = [Example(str(number), "Who named it?", (text,)) for number, text in enumerate(texts)]
    results = [str(result) for result in predictor.predict(asked)]
    known = [
        replace(one, answers={"qa": (text if number % 4 < 2 else "1",)})
        for number, (one, text) in enumerate(zip(asked, results, strict=True))
    ]
    path = tmp_path / "held_out.jsonl"
    data.write_examples(path, known)
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
    for name, words in (
        (export, "not of an export."),
        (tmp_path / "nowhere", "There is no saved predictor"),
        ("hf://a/b", "Add --to FOLDER"),
        ("ready", "Add --to FOLDER"),
    ):
        assert cli.main(["calibrate", str(name), "--input", str(questions)]) == 1
        assert words in capsys.readouterr().err


@pytest.fixture
def run(predictor, tmp_path):
    """What training leaves of a run, but for its rows."""
    folder = tmp_path / "run"
    predictor.save(folder / "predictor")
    folders.write_json(folder / "run.json", {"kind": "tfmrc run", "format": 1})
    folders.write_json(folder / "training.json", {})
    settings = (
        "{name: x, sources: [{format: table, train: t.csv}], model: {name: ExtractiveReader}}"
    )
    (folder / "config.yaml").write_text(settings)
    return folder


def test_a_run_is_calibrated_on_the_rows_that_it_held_out(run, questions, capsys, without_graphs):
    rows = list(data.read_examples(questions))
    write_rows(run, {row_digest(row) for row in rows[:2]}, rows)
    assert cli.main(["calibrate", str(run)]) == 0
    shown = capsys.readouterr().out
    assert f"The calibration is in {run / 'predictor' / 'calibration.json'}. Use it: " in shown
    written = json.loads((run / "predictor" / "calibration.json").read_text())
    assert (written["size"], written["data"]) == (22, "held_out.csv")


def test_rows_of_the_training_calibrate_nothing(run, questions, capsys, without_graphs):
    command, rows = ["calibrate", str(run)], list(data.read_examples(questions))
    assert cli.main(command) == 1
    assert "has no held-out rows" in capsys.readouterr().err
    write_rows(run, {row_digest(row) for row in rows[:3]}, [])
    assert cli.main([*command, "--input", str(questions)]) == 0
    assert "3 skipped: " in capsys.readouterr().err
    write_rows(run, {row_digest(row) for row in rows}, [])
    assert cli.main([*command, "--input", str(questions)]) == 1
    assert "was trained on all rows of" in capsys.readouterr().err


def test_a_copy_is_calibrated_and_the_model_stays(
    predictor, questions, tmp_path, capsys, without_graphs
):
    for save, name in ((predictor.save, "saved"), (predictor.save_hugging_face, "reader")):
        folder, copy = save(tmp_path / name), tmp_path / f"{name}-copy"
        command = ["calibrate", str(folder), "--input", str(questions), "--to", str(copy)]
        assert cli.main(command) == 0
        assert f"tfmrc answer {copy} --question" in capsys.readouterr().out
        assert not (folder / "calibration.json").exists()
        storage.verify(copy)
        assert tfmrc.load(copy).calibration is not None
