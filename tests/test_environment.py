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


def put_python(path: Path, *, suits: bool = True, optimised: bool = True) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(PYTHON.format(unsuitable=int(not suits), not_optimised=int(not optimised)))
    path.chmod(0o755)
    return str(path)


def maker(folder: Path, places: list[Path], **variables: str) -> str:
    """Runs a copy of the script, and returns its words."""
    (folder / "tools").mkdir()
    shutil.copy(SCRIPT, folder / "tools")
    for name in ("setup.py", "requirements.lock"):
        (folder / name).touch()
    # No /usr/bin, where a Python may be: the few programs that the script calls are linked.
    programs = folder / "programs"
    programs.mkdir()
    for name in (
        "sh",
        "dirname",
        "cat",
        "sha256sum",
        "shasum",
        "cut",
        "df",
        "awk",
        "which",
        "flock",
    ):
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


@pytest.fixture
def places(tmp_path) -> list[Path]:
    return [tmp_path / "first", tmp_path / "second"]


def test_an_optimised_python_goes_first(tmp_path, places) -> None:
    put_python(places[0] / "python3.11", optimised=False)
    put_python(places[0] / "python3.12", suits=False)
    chosen = put_python(places[1] / "python3.12")
    put_python(places[1] / "python3.13")
    assert f"made by {chosen}\n" in maker(tmp_path, places)


def test_the_first_one_if_none_is_optimised(tmp_path, places) -> None:
    put_python(places[0] / "python3.12", optimised=False)
    put_python(places[0] / "python3.11", suits=False)
    chosen = put_python(places[1] / "python3.11", optimised=False)
    assert f"made by {chosen}\n" in maker(tmp_path, places)


def test_the_named_one(tmp_path, places) -> None:
    put_python(places[0] / "python3.11")
    named = put_python(places[1] / "mine", optimised=False)
    assert f"made by {named}\n" in maker(tmp_path, places, PYTHON=named)


def test_one_that_does_not_suit_is_refused(tmp_path, places) -> None:
    put_python(places[0] / "python3.11")
    named = put_python(places[1] / "mine", suits=False)
    said = maker(tmp_path, places, PYTHON=named)
    assert f"PYTHON={named} is not a Python 3.11, 3.12 or 3.13" in said


def test_none(tmp_path, places) -> None:
    put_python(places[0] / "python3.11", suits=False)
    assert "no Python 3.11, 3.12 or 3.13 with the venv module was found" in maker(tmp_path, places)
