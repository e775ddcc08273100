"""The plugin that runs tests on a stack of their own."""

import inspect
import re
import subprocess
import sys

import pytest

from tests.fresh_python import HOUR, environment
from tests.own_stack import on_own_stack

FILE = """
import inspect
import pytest

@pytest.fixture
def depth():
    yield len(inspect.stack(0))

@pytest.mark.parametrize("number", [1, 2])
def test_depths(depth, number):
    assert depth < 8 and len(inspect.stack(0)) < 4

def test_fails():
    assert 1 == 2

def test_left_out():
    pytest.skip("not today")
"""


def test_results_and_errors_pass_and_the_stack_is_new():
    def depth(more=0):
        return len(inspect.stack(0)) + more

    assert on_own_stack(depth, more=2) == 4  # this function and the one that calls it
    assert depth() >= on_own_stack(depth)

    def fails():
        raise KeyError("owl")

    with pytest.raises(KeyError, match="owl") as caught:
        on_own_stack(fails)
    assert [entry.name for entry in caught.traceback][-1] == "fails"


def test_tests_and_fixtures_run_on_it(tmp_path):
    (tmp_path / "test_first.py").write_text(FILE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.own_stack", "-c", "/dev/null",
         "--rootdir", tmp_path, tmp_path],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=HOUR, check=False,
    )  # fmt: skip
    assert "1 failed, 2 passed, 1 skipped" in done.stdout, done.stdout
    assert re.search("assert 1 == 2", done.stdout)
