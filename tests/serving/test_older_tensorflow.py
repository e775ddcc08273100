"""The export under TensorFlow 2.20, the line of TensorFlow Serving's newest release.

Slow: makes an environment with tensorflow 2.20 and tensorflow-text 2.20.1 (about 2 GB, from the
package index), or takes the one that TFMRC_TF220 names.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving.readers import REQUEST, assert_same_outputs, run_loader


@pytest.fixture(scope="module")
def older_python(tmp_path_factory) -> str:
    folder = Path(os.environ.get("TFMRC_TF220") or tmp_path_factory.mktemp("tensorflow-2.20"))
    python = folder / "bin" / "python"
    if not python.exists():
        packages = ["tensorflow==2.20.*", "tensorflow-text==2.20.1"]
        for command in (
            [sys.executable, "-m", "venv", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", *packages],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    versions = "import tensorflow, importlib.metadata as m; print(m.version('tensorflow-text'))"
    done = subprocess.run([str(python), "-c", versions], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2.20.1"
    return str(python)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("loader", ["tf_loader.py", "c_api_loader.py"])
def test_the_export_answers_the_same_under_tensorflow_2_20(
    exported, answer_arrays, older_python, loader
):
    (reply,) = run_loader(loader, exported, [REQUEST], python=older_python)
    assert_same_outputs(reply["outputs"], answer_arrays, rtol=1e-4)
