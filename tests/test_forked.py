"""Test files run in forked processes: what passes, fails, warns or is killed is reported."""

import re
import subprocess
import sys

import pytest

from tests import fresh_python
from tests.fresh_python import HOUR, environment

FIRST = """
import os, signal, warnings
import pytest

def test_passes():
    warnings.warn("old", FutureWarning)

def test_fails():
    assert 1 == 2

def test_is_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def test_is_killed_once():
    seen = __file__ + ".seen"
    if not os.path.exists(seen):
        open(seen, "w").close()
        os.kill(os.getpid(), signal.SIGABRT)

@pytest.mark.skip(reason="never")
def test_left_out():
    pass

def test_process(record_property):
    record_property("process", os.getpid())
"""
SECOND = """
import os

def test_process(record_property):
    record_property("process", os.getpid())
"""
PROGRAM = """
import os, sys
import pytest
from tests import fresh_python

sys.imported, sys.computed = True, False
CODE = "import os, sys; print(sys.imported, sys.computed, sys.argv, os.getppid())"

def test_program():
    sys.computed = True
    for name in ("first", "second"):
        said = fresh_python.forked("-c", CODE, name).rsplit(maxsplit=1)
        assert said[0] == f"True False ['-c', '{name}']"
        assert int(said[1]) != os.getpid()
    with pytest.raises(RuntimeError, match="ended with 1:[^$]*ValueError: wrong"):
        fresh_python.forked("-c", "raise ValueError('wrong')")
    with pytest.raises(RuntimeError, match="ended with 3:"):
        fresh_python.forked("-c", "import sys; sys.exit(3)")
"""


def run(folder, *arguments):
    (folder / "test_first.py").write_text(FIRST)
    (folder / "test_second.py").write_text(SECOND)
    program = f"import tests.forked as f; f.LIMIT_MIB = {arguments[0]}; import pytest, sys; "
    program += "sys.exit(pytest.main(['-p', 'tests.forked', *sys.argv[1:]]))"
    done = subprocess.run(
        [sys.executable, "-c", program, "-rA", "-c", "/dev/null", "--rootdir", folder, folder,
         f"--junitxml={folder / 'result.xml'}", *arguments[1:]],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=HOUR, check=False,
    )  # fmt: skip
    processes = re.findall(r'name="process" value="(\d+)"', (folder / "result.xml").read_text())
    return done.returncode, done.stdout, processes


def test_processes_beside_each_other_report_every_outcome(tmp_path):
    status, said, processes = run(tmp_path, 100_000, "--forks", "2")
    assert status == 1
    assert "2 failed, 4 passed, 1 skipped, " in said
    assert "assert 1 == 2" in said and said.count("FutureWarning: old") == 1
    assert "The process of this test ended with status -9." in said
    assert "The process of this test ended with status -6. It runs again." in said
    assert len(set(processes)) == 2
    _, said, _ = run(tmp_path, 100_000, "--forks", "2", "-x")
    assert "stopping after 1 failures" in said


def test_a_process_that_is_too_large_ends_after_its_file(tmp_path):
    _, said, processes = run(tmp_path, 0)
    assert "2 failed, 4 passed, 1 skipped, " in said
    assert len(set(processes)) == 2


def test_a_forked_program_begins_where_nothing_was_computed(tmp_path):
    """It has what was imported, its own arguments and output; what it raises is said."""
    (tmp_path / "test_program.py").write_text(PROGRAM)
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.forked", "-c", "/dev/null", tmp_path],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=HOUR, check=False,
    ).stdout  # fmt: skip
    assert "1 passed" in said, said


def test_tensors_made_by_imports_are_refused(tmp_path):
    (tmp_path / "test_tensor.py").write_text(
        "import tensorflow as tf\n\nONE = tf.constant(1)\n\ndef test_one():\n    pass\n"
    )
    options = ("-m", "pytest", "-p", "tests.forked", "-c", "/dev/null", tmp_path)
    with pytest.raises(RuntimeError, match="ended with 4:[^$]*make tensors within tests and fix"):
        fresh_python.forked(*options)
