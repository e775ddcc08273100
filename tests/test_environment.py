"""`tools/environment.sh`: which Python makes the environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "tools" / "environment.sh"
# Answers the script's questions, and says who it is instead of making an environment.
PYTHON = """#!/bin/sh
case "$*" in
*ensurepip*) exit {unsuitable} ;;
*CONFIG_ARGS*) exit {not_optimised} ;;
*venv*) echo "made by $0" >&2; exit 1 ;;
esac
"""


def maker(folder: Path, places: list[Path], **variables: str) -> str:
    """Runs a copy of the script, and returns its words."""
    (folder / "tools").mkdir()
    shutil.copy(SCRIPT, folder / "tools")
    for name in ("setup.py", "requirements.lock"):
        (folder / name).touch()
    # No /usr/bin, where a Python may be: the few programs that the script calls are linked.
    programs = folder / "programs"
    programs.mkdir()
    for name in "sh dirname cat sha256sum shasum cut df awk which flock".split():
        if path := shutil.which(name):
            (programs / name).symlink_to(path)
    path = os.pathsep.join(map(str, [*places, programs]))
    done = subprocess.run(
        ["sh", "tools/environment.sh", "requirements.lock"],
        cwd=folder,
        env={"PATH": path} | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    return done.stderr


ANSWERS = {"good": (0, 0), "slow": (0, 1), "bad": (1, 0)}  # unsuitable, not optimised
NONE = "no Python 3.11, 3.12 or 3.13 with the venv module was found"


@pytest.mark.parametrize(
    ("pythons", "named", "said"),
    [
        ("a/3.11=slow a/3.12=bad b/3.12=good b/3.13=good", "", "made by {}/b/python3.12\n"),
        ("a/3.12=slow a/3.11=bad b/3.11=slow", "", "made by {}/b/python3.11\n"),
        ("a/3.11=good b/3.12=slow", "b/3.12", "made by {}/b/python3.12\n"),
        ("a/3.11=good b/3.12=bad", "b/3.12", "PYTHON={}/b/python3.12 is not a Python 3.11, 3."),
        ("a/3.11=bad", "", NONE),
    ],
    ids=["the first optimised one", "the first one", "the named one", "an unsuitable one", "none"],
)
def test_the_python_that_makes_the_environment(tmp_path, pythons, named, said) -> None:
    for python in pythons.split():
        name, _, answers = python.partition("=")
        path = tmp_path / name.replace("/", "/python")
        path.parent.mkdir(exist_ok=True)
        unsuitable, not_optimised = ANSWERS[answers]
        path.write_text(PYTHON.format(unsuitable=unsuitable, not_optimised=not_optimised))
        path.chmod(0o755)
    variables = {"PYTHON": str(tmp_path / named.replace("/", "/python"))} if named else {}
    found = maker(tmp_path, [tmp_path / "a", tmp_path / "b"], **variables)
    assert said.format(tmp_path) in found
