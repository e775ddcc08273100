"""The package: what `make package` builds, and the wheel alone in an empty environment."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests import fresh_python
from tfmrc.predictors.ready.shipped import NAMES

ROOT = Path(__file__).resolve().parents[1]
PASSAGE = "Anna Holt built the mill."
QUERY = ["--question", "Who built the mill?", "--passage", PASSAGE]
SHORT = ["--set", "training.steps=2", "training.eval_every_steps=2"]
ABSENT = "import importlib.util as u; print([n for n in ('torch', 'tests') if u.find_spec(n)])"
QUESTIONS = "import tfmrc.data as d; print(d.__path__[0] + '/handbook_files/questions.csv')"


def outside(**variables: str) -> dict[str, str]:
    """Returns an environment in which Python does not see the repository."""
    environment = fresh_python.environment(**variables)
    del environment["PYTHONPATH"]
    return environment


def run(*words: object, folder: Path = ROOT, **variables: str) -> str:
    """Returns the output of a program."""
    environment = outside(**variables)
    done = subprocess.run(
        list(map(str, words)), cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from the source distribution, and checked as a registry would."""
    folder = tmp_path_factory.mktemp("package")
    python, built = folder / "venv" / "bin" / "python", folder / "dist"
    run(sys.executable, "-m", "venv", folder / "venv")
    run(python, "-m", "pip", "install", "-q", "build", "twine")
    run(python, "-m", "build", "-o", built, ".")
    run(python, "-m", "twine", "check", "--strict", *built.iterdir())
    [wheel] = built.glob("*.whl")
    return wheel


@pytest.mark.slow
def test_the_wheel_has_the_models_and_the_handbook_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {"tfmrc", "tfmrc-0.1.0.dist-info"}
    shipped = [f"predictors/ready/files/{name}/difference.safetensors" for name in NAMES]
    shipped += ["py.typed", "__init__.pyi", "data/handbook_files/pages/equipment.pdf"]
    assert {f"tfmrc/{name}" for name in shipped} <= {*names}


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_wheel_alone_answers_trains_and_serves_from_any_folder(wheel, tmp_path):
    folder = tmp_path / "anywhere"
    folder.mkdir()
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python, tfmrc = (tmp_path / "venv" / "bin" / name for name in ("python", "tfmrc"))
    run(python, "-m", "pip", "install", "-q", wheel)
    here = {"folder": folder, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert run(python, "-c", ABSENT, **here) == "[]\n"
    assert "missing: pip install 'tfmrc[serve]'" in run(tfmrc, "doctor", **here)
    assert run(tfmrc, "answer", *QUERY, **here).startswith("Anna Holt")

    table = run(python, "-c", QUESTIONS, **here).strip()
    columns = ["--blank-answers", "none", "--columns", "group=document"]
    run(tfmrc, "init", "mine", "--model", "reader", "--data", table, *columns, **here)
    run(tfmrc, "train", "mine.yaml", *SHORT, **here)
    assert "is_confident" in run(tfmrc, "answer", "runs/mine", *QUERY, "--json", **here)

    run(python, "-m", "pip", "install", "-q", "tfmrc[serve]", **here)  # as `doctor` says
    serve = [tfmrc, "serve", "ready", "--port", "0", "--no-grpc"]
    environment = outside(XDG_CACHE_HOME=here["XDG_CACHE_HOME"])
    with subprocess.Popen(
        serve, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            url = next(line.split()[-1] for line in server.stdout if line.startswith("REST"))
            served = run(tfmrc, "answer", f"{url}/v1/models/ready", *QUERY, **here)
        finally:
            server.terminate()
    assert served.startswith("Anna Holt")
