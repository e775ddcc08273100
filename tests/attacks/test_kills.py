"""A part of the kills of `make attacks`, in a process that has not used TensorFlow yet."""

from tests import fresh_python

PROGRAM = """
import sys
from pathlib import Path
from tests.attacks import kills

print(kills.attack(6, 7, Path(sys.argv[1]), ["replace"]))
"""


def test_a_command_killed_at_any_change_of_a_folder_is_given_again(tmp_path):
    output = fresh_python.forked("-c", PROGRAM, tmp_path)
    assert "replace: 12 runs" in output and output.endswith("[]")
