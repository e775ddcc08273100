"""A run that is killed, stopped or repeated, on the toy paper: nothing is lost or trained twice."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.running import eagerly
from tests.toy_paper import RECIPE, example
from tfmrc import Predictor, data, experiments
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.examples.sources import splits
from tfmrc.experiments.steps import train as step
from tfmrc.training import TimeLimit

STEPS = "checkpoint_every_steps: 2, eval_every_steps: 3, steps: 6, batch_size: 8"


class Kill(Exception):
    pass


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Data, settings and a run that was trained without a stop."""
    folder = tmp_path_factory.mktemp("resume")
    data.write_examples(folder / "train.jsonl", [example(n) for n in range(40)])
    data.write_examples(folder / "test.jsonl", [example(n) for n in range(100, 104)])
    (folder / "toy.yaml").write_text(RECIPE.replace("epochs: 3, batch_size: 8", STEPS))
    train(folder, folder / "whole")
    return folder


def train(place: Path, run: Path, *settings: str, **options: object) -> Path:
    experiment = experiments.read_settings(place / "toy.yaml", *settings)
    with eagerly():
        return experiments.train(experiment, place, run, **options)


def facts(run: Path) -> dict:
    return json.loads((run / "training.json").read_text())


def assert_equal_weights(run: Path, other: Path) -> None:
    ours, theirs = (Predictor.load(path / "predictor").model.get_weights() for path in (run, other))
    for one, two in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_killed_training_ends_with_the_same_weights(place, tmp_path, monkeypatch):
    """The kill is within an epoch, one step after a checkpoint."""

    class Killer(TimeLimit):
        def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
            if self.model.optimizer.iterations == 5:
                raise Kill

    Killer.__name__ = "TimeLimit"  # a checkpoint names the callbacks whose state it has
    monkeypatch.setattr(step.training, "TimeLimit", Killer)
    with pytest.raises(Kill):
        train(place, tmp_path / "run")
    monkeypatch.undo()
    assert not (tmp_path / "run" / "training.json").exists()
    train(place, tmp_path / "run")
    assert_equal_weights(tmp_path / "run", place / "whole")
    logs = [(run / "log.csv").read_text() for run in (tmp_path / "run", place / "whole")]
    assert logs[0] == logs[1]


def test_a_kill_before_the_predictor_was_saved_loses_nothing(place, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(place / "whole", run)
    (run / "training.json").unlink()
    shutil.rmtree(run / "predictor")
    (run / ".predictor.part").mkdir()
    (run / "log.csv").unlink()  # the checkpoint has its rows
    train(place, run)
    assert facts(run)["best_val_loss"] == facts(place / "whole")["best_val_loss"]
    assert (run / "log.csv").read_text() == (place / "whole" / "log.csv").read_text()
    assert_equal_weights(run, place / "whole")


def test_a_trained_run_stays_and_fresh_renames_it(place, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(place / "whole", run)
    before = (run / "training.json").stat().st_mtime_ns
    train(place, run)
    assert (
        "is trained for 6 steps, ended by: all steps done. --fresh trains again"
        in capsys.readouterr().out
    )
    assert (run / "training.json").stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="training.steps: 6 there, 9 here"):
        train(place, run, "training.steps=9")
    train(place, run, "training.steps=3", fresh=True)
    assert facts(run)["steps"] == 3
    assert facts(tmp_path / "run.old-1")["steps"] == 6


def test_a_time_limit_ends_a_run_and_a_greater_one_goes_on(place, tmp_path, capsys):
    for minutes in ("0.0000001", "0.0000001", "null"):
        train(place, tmp_path / "run", f"training.max_minutes={minutes}")
    said = capsys.readouterr().out
    assert "Trained 1 of 6 steps, ended by: time limit" in said
    assert "3 held-out examples:\n  question" in said
    assert "is trained for 1 steps, ended by: time limit. --fresh trains again, a longer" in said
    assert said.count("it goes on") == 1
    found = facts(tmp_path / "run")
    assert found["ended_by"] == "all steps done" and found["steps"] == 6


@pytest.fixture
def without_training(monkeypatch):
    """A run is trained in no time: what is tested is which ones are, and on what."""

    def train_run(plan, prepared):
        same = plan.experiment.sources == prepared.plan.experiment.sources
        [part] = prepared.sources if same else splits(plan)
        found = {"seed": plan.seed, "examples": len(list(part.train)), "ended_by": "all steps done"}
        (plan.folder / "predictor").mkdir()
        (plan.folder / "training.json").write_text(json.dumps(found))

    monkeypatch.setattr(step, "train_run", train_run)


@pytest.mark.usefixtures("without_training")
def test_the_runs_of_a_grid(place, tmp_path, capsys):
    """Each is trained once; of a run in use the others are trained; fresh is about the chosen."""
    grid = "grid={variants: {narrow: {}, wide: {model.width: 8}}, seeds: [1, 2]}"
    run = tmp_path / "grid"
    train(place, run, grid, variants=["wide"])
    assert {path.name for path in run.glob("*-*")} == {"wide-1", "wide-2"}
    assert not (run / "wide-1" / "vocabulary.txt").exists()  # it is shared
    stamps = {path: path.stat().st_mtime_ns for path in run.glob("wide-*/training.json")}
    (run / "narrow-1").mkdir()
    with folders.locked(run / "narrow-1"):
        train(place, run, grid)
    assert "Skipping narrow-1: Another process is using" in capsys.readouterr().out
    assert (run / "narrow-2" / "training.json").is_file()
    assert stamps == {path: path.stat().st_mtime_ns for path in stamps}
    train(place, run, grid, variants=["wide"], seeds=[2], fresh=True)
    changed = {path.parent.name for path in stamps if stamps[path] != path.stat().st_mtime_ns}
    assert changed == {"wide-2"} and facts(run / "wide-2.old-1")["seed"] == 2
    assert "wide-2.old-1" not in {path.name for path in experiments_below(run)}


def experiments_below(run: Path) -> list[Path]:
    from tfmrc.experiments.plan import trained_below

    return trained_below(run)


@pytest.mark.usefixtures("without_training")
def test_a_variant_has_the_data_that_it_names(place, tmp_path):
    data.write_examples(place / "few.jsonl", [example(n) for n in range(24)])
    train(
        place,
        tmp_path / "run",
        "grid={variants: {all: {}, few: {sources.0.train: few.jsonl}}, seeds: [1]}",
    )
    assert not (tmp_path / "run" / "all-1" / "vocabulary.txt").exists()
    assert (tmp_path / "run" / "few-1" / "vocabulary.txt").exists()
    sizes = [facts(tmp_path / "run" / name)["examples"] for name in ("few-1", "all-1")]
    assert sizes[0] < sizes[1]


def test_a_stream_of_fewer_records_than_a_batch(place, tmp_path):
    settings = ("stream=true", "batch_size=64", "steps=2", "eval_every_steps=2")
    train(place, tmp_path / "run", *(f"training.{setting}" for setting in settings))
    assert facts(tmp_path / "run")["steps"] == 2
