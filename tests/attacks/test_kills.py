"""A part of the kills of `make attacks`, in a process that has not used TensorFlow yet."""

import json

from tests import fresh_python

PROGRAM = """
import json, shutil, sys
from contextlib import contextmanager
from pathlib import Path
from tests.attacks import kills

folder = Path(sys.argv[1])
wrong = kills.attack(12, 7, folder / "right", ["replace"])

@contextmanager
def in_place(path, size):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    yield path

kills.new_folder = in_place
kills.verify_files = lambda path: (path / "assets" / "words.txt").read_text()
print(json.dumps([wrong, kills.attack(6, 7, folder / "wrong", ["replace"])]))
"""


def test_a_command_killed_at_any_change_of_a_folder_is_given_again(tmp_path):
    output = fresh_python.forked("-c", PROGRAM, tmp_path)
    wrong, found = json.loads(output.splitlines()[-1])
    assert wrong == []
    assert any("half written" in problem for problem in found)  # what is wrong is seen
    assert "replace: 24 runs" in output
