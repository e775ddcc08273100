"""Runs that get SIGKILL, in processes of their own, against runs that do not."""

import json
import signal
import time

import numpy as np
import pytest

from tests.training import process
from tfmrc.training.state_file import read_state


def run(folder, kind, replicas, *kills, **variables):
    for where in kills:
        killed = process.start("resumable", folder, kind, replicas, where, **variables)
        assert killed.wait(120) == -signal.SIGKILL
    process.run("resumable", folder, kind, replicas, "never", **variables)
    return folder


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    made = {}

    def get(kind, replicas=1, **variables):
        key = (kind, replicas, *variables.items())
        if key not in made:
            folder = tmp_path_factory.mktemp("unbroken")
            made[key] = run(folder, kind, replicas, **variables)
        return made[key]

    return get


def assert_same_run(first, second):
    """Weights left in the model, history, table, and the whole state at the end, to the bit."""
    with np.load(first / "final.npz") as one, np.load(second / "final.npz") as two:
        assert sorted(one.files) == sorted(two.files)
        for name in one.files:
            np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    assert (first / "log.csv").read_text() == (second / "log.csv").read_text()
    files = [sorted(p.name for p in (f / "checkpoints").iterdir()) for f in (first, second)]
    assert files[0][-1] == files[1][-1]
    (one, facts_one), (two, facts_two) = (
        read_state(f / "checkpoints" / files[0][-1]) for f in (first, second)
    )
    assert json.dumps(facts_one) == json.dumps(facts_two)
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    assert len(files[1]) == 2  # nothing half written is left


KILLS = {
    "before the first checkpoint, in epochs, in one epoch twice": ("0:1", "1:3", "1:4", "3:0"),
    "in validation and at the end of an epoch": ("validation:1", "validation:3"),
    "while a checkpoint is written": ("write:2", "write:3"),
}


@pytest.mark.parametrize("kills", KILLS.values(), ids=KILLS)
def test_killed_and_resumed_is_unbroken(unbroken, tmp_path, kills):
    """Shuffled anew in every epoch, endless, resumed in the middle of the data."""
    assert_same_run(unbroken("positioned"), run(tmp_path, "positioned", 1, *kills))


def test_plain_dataset_without_a_position(unbroken, tmp_path):
    assert_same_run(unbroken("plain"), run(tmp_path, "plain", 1, "1:3", "validation:2"))


def test_two_replicas(unbroken, tmp_path):
    assert_same_run(unbroken("positioned", 2), run(tmp_path, "positioned", 2, "1:3", "2:1"))


def test_jax_without_tensorflow(unbroken, tmp_path):
    options = {"KERAS_BACKEND": "jax"}
    killed = run(tmp_path, "arrays", 1, "1:3", "validation:2", **options)
    assert_same_run(unbroken("arrays", **options), killed)


def test_kill_from_outside_at_any_moment(unbroken, tmp_path):
    """Killed as soon as there is a new checkpoint, again and again until the run is through."""
    for _ in range(30):
        before = set((tmp_path / "checkpoints").glob("step-*.npz"))
        running = process.start("resumable", tmp_path, "positioned", 1, "never")
        while running.poll() is None:
            if set((tmp_path / "checkpoints").glob("step-*.npz")) - before:
                running.kill()
            time.sleep(0.002)
        if running.returncode == 0:
            break
        assert running.returncode == -signal.SIGKILL
    assert running.returncode == 0
    assert_same_run(unbroken("positioned"), tmp_path)


def test_a_finished_run_that_is_started_again_stays(unbroken, tmp_path):
    folder = run(tmp_path, "plain", 1)
    run(folder, "plain", 1)
    assert_same_run(unbroken("plain"), folder)
