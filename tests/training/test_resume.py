"""Runs that get SIGKILL, in processes of their own, against runs that do not."""

import signal
import time
from functools import partial

import numpy as np
import pytest

from tests import fresh_python
from tfmrc.training.callbacks.state_file import read_state

RESUMABLE = ("-m", "tests.training.resumable")


def run(folder, kind, replicas, *kills, **variables):
    """Starts the run once for each kill and a last time; every kill must have hit."""
    start = partial(fresh_python.run, **variables) if variables else fresh_python.forked
    output = start(*RESUMABLE, folder, kind, replicas, *kills, "never")
    assert [int(code) for code in output.split()] == [-signal.SIGKILL] * len(kills) + [0]
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


def numbers(folder):
    """History, table and running means of a finished run."""
    with np.load(folder / "final.npz") as archive:
        found = {name: archive[name] for name in archive.files if name.startswith("history/")}
    rows = (folder / "log.csv").read_text().split()
    found["log.csv"] = np.array([[float(cell) for cell in row.split(",")] for row in rows[1:]])
    return found


def state(folder):
    """Whole state at the end of a finished run; beside the two newest files there is nothing."""
    files = sorted((folder / "checkpoints").iterdir())
    assert len(files) == 2
    arrays, facts = read_state(files[-1])
    running_means = {name: arrays.pop(name) for name in list(arrays) if name.startswith("metrics/")}
    return arrays, facts, running_means


def assert_same_run(first, second, rtol=0.0):
    """All state and the weights left in the model to the bit; losses reported to `rtol`."""
    with np.load(first / "final.npz") as one, np.load(second / "final.npz") as two:
        assert sorted(one.files) == sorted(two.files)
        for name in one.files:
            if not name.startswith("history/"):
                np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    (one, facts_one, means_one), (two, facts_two, means_two) = state(first), state(second)
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    for key in ("epoch", "step_in_epoch", "step", "stopped"):
        assert facts_one[key] == facts_two[key]
    one, two = {**numbers(first), **means_one}, {**numbers(second), **means_two}
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_allclose(one[name], two[name], rtol=rtol, atol=0, err_msg=name)


def test_killed_and_resumed_is_unbroken(unbroken, tmp_path):
    """Data shuffled anew in every pass, endless, resumed in the middle.

    Killed while a checkpoint is written, twice in one epoch and in a validation.
    """
    kills = ("write:2", "1:3", "1:4", "validation:2")
    assert_same_run(unbroken("positioned"), run(tmp_path, "positioned", 1, *kills))


@pytest.mark.slow
def test_two_replicas(unbroken, tmp_path):
    killed = run(tmp_path, "positioned", 2, "1:3")
    # a mean is kept as the sum of the replicas' parts, which are divided anew
    assert_same_run(unbroken("positioned", 2), killed, rtol=1e-6)


@pytest.mark.slow
def test_jax_without_tensorflow(unbroken, tmp_path):
    options = {"KERAS_BACKEND": "jax"}
    killed = run(tmp_path, "arrays", 1, "1:3", "validation:2", **options)
    assert_same_run(unbroken("arrays", **options), killed)


@pytest.mark.slow
def test_kill_from_outside_at_any_moment(unbroken, tmp_path):
    """Killed as soon as there is a new checkpoint, again and again until the run is through."""
    for _ in range(30):
        before = set((tmp_path / "checkpoints").glob("step-*.npz"))
        running = fresh_python.start(*RESUMABLE, tmp_path, "positioned", 1, "here")
        while running.poll() is None:
            if set((tmp_path / "checkpoints").glob("step-*.npz")) - before:
                running.kill()
            time.sleep(0.002)
        if running.returncode == 0:
            break
        assert running.returncode == -signal.SIGKILL
    assert running.returncode == 0
    assert_same_run(unbroken("positioned"), tmp_path)
