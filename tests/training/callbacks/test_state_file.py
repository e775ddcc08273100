"""Files of training states and of weights: whole, or refused."""

import collections
import errno
import resource
import shutil

import keras
import numpy as np
import pytest

from tfmrc.training.callbacks import state_file
from tfmrc.training.callbacks.state_file import read_state, write_state
from tfmrc.training.callbacks.weights_file import save_weights

VALUES = {
    "model/0": np.arange(6, dtype="float32").reshape(2, 3) / 7,
    "model/1": np.array(2**30, "int32"),
    "seed": np.array([1, 2**32 - 1], "uint32"),
}
FACTS = {"epoch": 3, "logs": {"loss": 0.1 + 0.2}, "words": ["é", None]}


@pytest.fixture(scope="module")
def variables():
    made = {
        name: keras.Variable(value, dtype=value.dtype.name, trainable=False)
        for name, value in VALUES.items()
    }
    return made | {"half": keras.Variable([1.5, -0.1], dtype="bfloat16")}


@pytest.fixture
def path(tmp_path, variables):
    path = tmp_path / "new" / "state.npz"
    write_state(path, variables, FACTS)
    return path


def only_old(path):
    """The old file is intact, and nothing is beside it."""
    return read_state(path)[1] == FACTS and [p.name for p in path.parent.iterdir()] == [path.name]


def test_everything_comes_back_to_the_bit(path, variables):
    arrays, facts = read_state(path)
    assert facts == FACTS and arrays.keys() == variables.keys() and only_old(path)
    for name, value in VALUES.items():
        assert arrays[name].dtype == value.dtype
        np.testing.assert_array_equal(arrays[name], value)
    assert str(arrays["half"].dtype) == "bfloat16"
    np.testing.assert_array_equal(arrays["half"], np.array(variables["half"]))


def test_a_failed_write_leaves_the_old_file(path, variables, monkeypatch):
    with pytest.raises(TypeError):
        write_state(path, variables, {"what": object()})

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(state_file.np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="No space left"):
        write_state(path, variables, {"epoch": 4})
    assert only_old(path)


def test_weights_that_the_disk_cannot_take_are_not_begun(tmp_path, monkeypatch, capfd):
    """HDF5 would print its own messages, leave a part of the file, or end the process."""
    model = keras.Sequential([keras.Input((200,)), keras.layers.Dense(300)])
    path = tmp_path / "best.weights.h5"
    usage = collections.namedtuple("usage", "total used free")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: usage(10**6, 10**6 - 1000, 1000))
        with pytest.raises(OSError, match=r"needs 1.2 MiB, and the disk has 0.0 MiB left") as full:
            save_weights(model, path)
    assert full.value.errno == errno.ENOSPC and str(path) in str(full.value)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))  # as `ulimit -f` does
    try:
        with pytest.raises(OSError) as limited:
            save_weights(model, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert limited.value.errno == errno.EFBIG
    assert list(tmp_path.iterdir()) == [] and "h5py" not in capfd.readouterr().err
    save_weights(model, path)
    assert [p.name for p in tmp_path.iterdir()] == ["best.weights.h5"]
