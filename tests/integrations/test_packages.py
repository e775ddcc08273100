"""The adapters, with the packages themselves in an environment that the test makes."""

import importlib.metadata
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests import fresh_python

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["mlflow", "haystack", "ray"])
def test_with_the_package_itself(tmp_path: Path, extra: str) -> None:
    wanted = [
        requirement.split(";")[0].strip()
        for requirement in importlib.metadata.requires("tfmrc") or ()
        if re.search(rf"""extra == ["']{extra}["']""", requirement)
    ]
    assert wanted
    folder = tmp_path / "environment"
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    # tfmrc and what it needs are those of this process.
    ours = sysconfig.get_path("purelib")
    theirs = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (theirs / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    fixed = tmp_path / "constraints.txt"
    held = ((d.metadata["Name"], d.version) for d in importlib.metadata.distributions())
    fixed.write_text("".join(f"{n}=={v}\n" for n, v in held if n and n != "tfmrc"))
    install = [str(python), "-m", "pip", "install", "--quiet", *wanted, "-c", str(fixed)]
    subprocess.run(install, check=True, capture_output=True)
    (tmp_path / "place").mkdir()
    done = subprocess.run(
        [str(python), str(HERE / f"use_{extra}.py"), str(tmp_path / "place")],
        env=fresh_python.environment(HAYSTACK_TELEMETRY_ENABLED="False"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("done ")
