"""Run folders: recognised by a marker, locked, emptied only if they are ours, never half done."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tfmrc.experiments import read_settings, run_folder as folders
from tfmrc.experiments.settings import Evaluation, Experiment, Grid, Source, Training

EXPERIMENT = Experiment(
    "x", (Source("squad", ("span",), train="a.json"),), {"name": "SAN"}, training=Training(steps=10)
)


def made(folder: Path, experiment: Experiment = EXPERIMENT, fresh: bool = False) -> Path:
    """A run's folder with a log, as if it had begun to train."""
    with folders.open_run(experiment, folder, fresh):
        (folder / "log.csv").write_text("kept")
    return folder


def test_new_run_holds_its_settings_and_a_marker(tmp_path):
    folder = made(tmp_path / "run")
    assert read_settings(folder / "config.yaml") == EXPERIMENT
    assert folders.is_run(folder)


def test_same_settings_go_on_and_may_change_time_report_and_grid(tmp_path):
    folder = made(tmp_path / "run")
    longer = replace(
        EXPERIMENT,
        title="other words",
        sources=(replace(EXPERIMENT.sources[0], paper={"SAN": {"f1": 1.0}}, test="b.json"),),
        training=Training(steps=10, max_minutes=5.0),
        evaluation=Evaluation(limit=3),
        grid=Grid(seeds=(1, 2)),
    )
    with folders.open_run(longer, folder):
        assert (folder / "log.csv").read_text() == "kept"
    assert read_settings(folder / "config.yaml") == longer


def test_other_settings_are_named_and_fresh_drops_the_run(tmp_path):
    folder = made(tmp_path / "run")
    other = replace(EXPERIMENT, training=Training(steps=20), model={"name": "SAN", "units": 8})
    with (
        pytest.raises(ValueError, match="other settings") as raised,
        folders.open_run(other, folder),
    ):
        pass
    assert "training.steps: 10 there, 20 here" in str(raised.value)
    assert (folder / "log.csv").read_text() == "kept"
    with folders.open_run(other, folder, fresh=True):
        assert not (folder / "log.csv").exists()


PREPARED = ("inputs.json", "data.json", "vocabulary.txt", "spans-1.jsonl.gz", "ids/train.txt")


def refused(folder: Path, *more: str) -> Path:
    """A run's folder whose data was prepared, and whose model was refused before any step."""
    with pytest.raises(ValueError, match="refused"), folders.open_run(EXPERIMENT, folder):
        for name in (*PREPARED, "tags.jsonl", *more):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("kept" if name != "log.csv" else "")
        raise ValueError("refused")
    return folder


def kept(folder: Path) -> set[str]:
    """Names of the files of a folder beside its own, all with their content."""
    files = {str(p.relative_to(folder)): p for p in folder.rglob("*") if p.is_file()}
    texts = {p.read_text() for name, p in files.items() if Path(name).name not in OWN}
    assert texts <= {"kept", ""}
    return files.keys() - OWN


OWN = {"run.json", ".lock", "config.yaml", "log.csv"}


def test_a_run_without_a_step_begins_again_with_other_settings(tmp_path, capsys):
    """What is not the run's own stays."""
    folder = refused(tmp_path / "run", "thesis.txt", "log.csv", "checkpoints/.x")
    (folder / "checkpoints" / ".x").unlink()
    model = replace(EXPERIMENT, model={"name": "SAN", "units": 8}, training=Training(steps=20))
    with folders.open_run(model, folder):
        assert kept(folder) == {"tags.jsonl", "thesis.txt", "ids/train.txt"}
    said = capsys.readouterr().out
    assert "model.units: None there, 8 here" in said and "its data is prepared again" in said
    assert read_settings(folder / "config.yaml") == model
    with folders.open_run(replace(model, tagger="other"), folder):
        assert kept(folder) == {"thesis.txt", "ids/train.txt"}


@pytest.mark.parametrize(
    "trace", ["checkpoints/1.keras", "best.weights.h5", "training.json", "sub"]
)
def test_a_run_with_a_step_or_a_run_in_it_is_refused(tmp_path, trace):
    folder = refused(tmp_path / "run", *([] if trace == "sub" else [trace]))
    if trace == "sub":
        made(folder / "sub")
    before = kept(folder)
    other = replace(EXPERIMENT, split=replace(EXPERIMENT.split, validation_share=0.5))
    with pytest.raises(ValueError, match="other settings"), folders.open_run(other, folder):
        pass
    assert kept(folder) == before >= {*PREPARED, "tags.jsonl"}
    assert read_settings(folder / "config.yaml") == EXPERIMENT


@pytest.mark.parametrize("fresh", [False, True])
def test_a_folder_with_a_foreign_config_is_left_alone(tmp_path, fresh):
    (tmp_path / "thesis.txt").write_text("years of work")
    (tmp_path / "config.yaml").write_text("mine: true")
    with (
        pytest.raises(ValueError, match="not a run"),
        folders.open_run(EXPERIMENT, tmp_path, fresh),
    ):
        pass
    (tmp_path / "run.json").write_text('{"kind": "mine"}')
    with (
        pytest.raises(ValueError, match="not a run"),
        folders.open_run(EXPERIMENT, tmp_path, fresh),
    ):
        pass
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / "config.yaml").read_text() == "mine: true"


def test_fresh_renames_a_run_with_all_that_is_in_it(tmp_path, capsys):
    folder = made(tmp_path / "run")
    (folder / "thesis.txt").write_text("years of work")
    made(folder / "a-1")
    made(folder, fresh=True)
    assert f"{folder} is now {tmp_path / 'run.old-1'}" in capsys.readouterr().out
    assert sorted(path.name for path in folder.iterdir()) == sorted(OWN)
    assert (tmp_path / "run.old-1" / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / "run.old-1" / "a-1" / "log.csv").read_text() == "kept"
    made(folder, fresh=True)
    assert (tmp_path / "run.old-2").is_dir()


def test_a_folder_of_a_process_killed_at_its_start_is_a_new_one(tmp_path):
    folder = tmp_path / "run"
    for fresh in (False, True):
        folder.mkdir()
        (folder / ".lock").write_text("process 1")
        (folder / ".run.json.part").write_text("{")
        made(folder, fresh=fresh)
        made(folder, fresh=True)
        assert sorted(path.name for path in folder.iterdir()) == [
            ".lock", "config.yaml", "log.csv", "run.json",
        ]  # fmt: skip
        shutil.rmtree(folder)
    made(folder, fresh=True)


HOLDER = """
import sys, time
from pathlib import Path
from tfmrc.experiments.run_folder import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(3600)
"""


def test_a_second_process_is_refused_and_a_killed_one_frees_the_folder(tmp_path):
    grid = made(tmp_path / "grid")
    folder = made(grid / "a-1")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "locked\n"
        with pytest.raises(folders.RunLockedError) as raised:
            made(folder)
        assert f"Another process is using {folder}" in str(raised.value)
        with pytest.raises(folders.RunLockedError):
            made(folder, fresh=True)
        assert (folder / "log.csv").read_text() == "kept"
        with pytest.raises(folders.RunLockedError):
            made(grid, fresh=True)
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    made(folder)  # its lock file is still there, and locks nothing
    made(grid, fresh=True)
    assert not folder.exists() and (tmp_path / "grid.old-1" / "a-1" / "log.csv").exists()


def test_a_changed_or_missing_file_is_named(tmp_path):
    (tmp_path / "b").mkdir()
    one, two = tmp_path / "train.json", tmp_path / "b" / "train.json"
    one.write_text("abc")
    two.write_text("abcd")
    noted = folders.describe_inputs([one, two])
    assert noted["train.json"]["bytes"] == 3 and noted["b/train.json"]["bytes"] == 4
    assert noted["train.json"]["sha256"].startswith("ba7816bf8f01cfea")
    folders.check_unchanged(noted, folders.describe_inputs([one, two]), tmp_path)
    two.write_text("abce")
    with pytest.raises(ValueError, match=r"b/train.json: 4 bytes, sha256 \w{12}, there: 4 bytes"):
        folders.check_unchanged(noted, folders.describe_inputs([one, two]), tmp_path)
    with pytest.raises(ValueError, match="b/train.json: no such file, there: 4 bytes"):
        folders.check_unchanged(noted, folders.describe_inputs([one]), tmp_path)


def test_files_of_equal_names_are_told_apart_by_their_folders(tmp_path):
    files = [tmp_path / language / "v2" / "train.json" for language in ("de", "en", "fr")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(str(file))
    noted = folders.describe_inputs(files)
    assert list(noted) == ["train.json", "v2/train.json", "fr/v2/train.json"]
    assert len({facts["sha256"] for facts in noted.values()}) == 3
