import collections
import errno
import resource
import shutil
import weakref

import keras
import ml_dtypes
import numpy as np
import pytest

from tfmrc.training.callbacks import state_file
from tfmrc.training.callbacks.ema_weights import save_weights
from tfmrc.training.callbacks.state_file import BrokenStateError, read_state, write_state

ARRAYS = {
    "model/0": np.arange(6, dtype="float32").reshape(2, 3) / 7,
    "model/1": np.array(2**40, "int64"),
    "seed": np.array([1, 2**32 - 1], "uint32"),
    "half": np.array([1.5, -0.1], ml_dtypes.bfloat16),
}
FACTS = {"epoch": 3, "logs": {"loss": 0.1 + 0.2}, "words": ["é", None]}


def test_everything_comes_back_to_the_bit(tmp_path):
    path = tmp_path / "new" / "state.npz"
    write_state(path, ARRAYS, FACTS)
    arrays, facts = read_state(path)
    assert facts == FACTS
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
    assert [p.name for p in path.parent.iterdir()] == ["state.npz"]


def test_writing_fails_without_touching_the_old_file(tmp_path):
    path = tmp_path / "state.npz"
    write_state(path, ARRAYS, FACTS)
    with pytest.raises(TypeError):
        write_state(path, ARRAYS, {"what": object()})
    assert read_state(path)[1] == FACTS


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.999])
def test_cut_file_is_noticed(tmp_path, share):
    path = tmp_path / "state.npz"
    write_state(path, ARRAYS, FACTS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(BrokenStateError, match="Received: path="):
        read_state(path)


def test_any_changed_byte_of_the_content_is_noticed(tmp_path):
    path = tmp_path / "state.npz"
    write_state(path, ARRAYS, FACTS)
    whole = path.read_bytes()
    place = whole.index(ARRAYS["model/0"].tobytes())
    for offset in (0, 5, 23):
        changed = bytearray(whole)
        changed[place + offset] ^= 1
        path.write_bytes(bytes(changed))
        with pytest.raises(BrokenStateError):
            read_state(path)


def test_any_changed_bit_of_a_header_is_noticed(tmp_path):
    """Some of them make `zipfile` raise NotImplementedError or RuntimeError("encrypted")."""
    path = tmp_path / "state.npz"
    write_state(path, {"model/0": np.arange(3, dtype="float32")}, {"epoch": 1})
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            path.write_bytes(bytes(changed))
            with pytest.raises(BrokenStateError, match="Received: path="):
                read_state(path)


def test_the_file_is_an_archive_of_numpy(tmp_path):
    write_state(tmp_path / "state.npz", ARRAYS, FACTS)
    with np.load(tmp_path / "state.npz") as archive:
        np.testing.assert_array_equal(archive["arrays/model/0"], ARRAYS["model/0"])


def test_variables_are_converted_one_at_a_time(tmp_path, monkeypatch):
    """A copy of all would need as much memory again as weights and moments take."""
    convert, made, alive = state_file.values_of, [], []

    def watched(variable):
        array = convert(variable)
        made.append(weakref.ref(array))
        alive.append(sum(each() is not None for each in made))
        return array

    monkeypatch.setattr(state_file, "values_of", watched)
    numbers = {f"model/{i}": keras.Variable(np.full(100, i, "float32")) for i in range(9)}
    low = keras.Variable(np.full(3, 1.5), dtype="bfloat16")
    write_state(tmp_path / "state.npz", {**numbers, "model/low": low}, FACTS)
    arrays, _ = read_state(tmp_path / "state.npz")
    assert [arrays[name][0] for name in numbers] == list(range(9))
    assert str(arrays["model/low"].dtype) == "bfloat16" and arrays["model/low"][2] == 1.5
    assert len(made) == 10 and max(alive) <= 2  # one that is written, and the next


def test_a_full_disk_is_a_clear_error_and_the_old_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    write_state(path, ARRAYS, FACTS)
    usage = collections.namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**6, 10**6 - 1000, 1000))
    with pytest.raises(OSError, match="too little room.*needed.*0.0 MiB are free"):
        write_state(path, ARRAYS, {"epoch": 4})
    assert read_state(path)[1] == FACTS
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


def test_a_disk_that_fills_up_meanwhile_leaves_no_half_file(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    write_state(path, ARRAYS, FACTS)

    def full(file, **members):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        write_state(path, ARRAYS, {"epoch": 4})
    assert read_state(path)[1] == FACTS
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


def test_another_archive_and_no_file(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    with pytest.raises(BrokenStateError):
        read_state(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        read_state(tmp_path / "none.npz")


def test_a_file_that_is_too_large_is_refused_before_it_is_begun(tmp_path, capfd):
    """As `ulimit -f` has it: HDF5 would print its own messages and leave a part of the file."""
    model = keras.Sequential([keras.Input((200,)), keras.layers.Dense(300)])
    path = tmp_path / "best.weights.h5"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError, match="No file of 1.2 MiB can be written") as caught:
            save_weights(model, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG and str(path) in str(caught.value)
    assert list(tmp_path.iterdir()) == [] and "h5py" not in capfd.readouterr().err
    save_weights(model, path)
    assert path.exists()
