"""A part of the full disks of `make attacks`: `prepare` with limits, and twice at once."""

import pytest
import tensorflow as tf

from tests import fresh_python
from tests.attacks import models
from tfmrc.storage.folders import new_folder

PROGRAM = """
import sys
from pathlib import Path
from tests.attacks import disks

wrong = disks.attack(1, 7, Path(sys.argv[1]), ("prepare",))
print(wrong, len(wrong))
"""


@pytest.mark.slow
def test_prepare_on_a_full_disk_and_twice_at_once(tmp_path):
    output = fresh_python.run("-c", PROGRAM, tmp_path).splitlines()
    assert output[-2:] == ["prepare: 2 conditions, 0 wrong", "[] 0"]


def test_a_full_disk_in_tensorflow_is_an_error_of_the_system(tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")

    monkeypatch.setattr(tf.saved_model, "save", full)
    with pytest.raises(OSError, match="toy/1 cannot be written: No space left on device"):
        models.toy().export(tmp_path / "toy" / "1")
    assert [path.name for path in (tmp_path / "toy").iterdir()] == [".1.lock"]


def test_a_second_writer_of_a_folder_is_refused(tmp_path):
    path = tmp_path / "predictor"
    with new_folder(path, 1) as part:
        (part / "file").write_text("first")
        with pytest.raises(OSError, match="Another process is writing"), new_folder(path, 1):
            pass
    assert (path / "file").read_text() == "first"
    with pytest.raises(FileExistsError, match="was written by another process"):  # noqa: SIM117
        with new_folder(path, 1, replace=False):
            pass
    assert (path / "file").read_text() == "first"
    assert {each.name for each in tmp_path.iterdir()} == {"predictor", ".predictor.lock"}
