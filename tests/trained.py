"""Fixtures of predictors and serving: what takes long is made, and loaded, once."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.running import eagerly

_EXPORTS = "exports_of_the_run"
_stays: dict[Any, Any] = {}


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Any) -> Path:
    """Returns a file or folder that one process of the run makes and all others read.

    Two processes may make it at the same time; the first one's is taken.
    """
    shared = tmp_path_factory.getbasetemp()
    target = shared / name
    if not target.exists():
        part = tmp_path_factory.mktemp("made") / name
        make(part)
        with suppress(OSError):  # it exists by now
            part.rename(target)
    return target


@pytest.fixture(scope="session")
def predictor(tmp_path_factory):
    """A Masque predictor that gives `tests.serving.predictors.ANSWERS`."""
    from tests.serving.predictors import make_predictor, train

    def trained(path):
        train(make_predictor()).model.save_weights(path)

    result = make_predictor()
    result.model.load_weights(made_once(tmp_path_factory, "trained.weights.h5", trained))
    return result


@pytest.fixture(scope="session")
def exported(predictor, tmp_path_factory):
    """`<folder>/hills/7`, beam search, two hypotheses."""
    from tests.serving.predictors import EXPORT_OPTIONS

    def export(folder):
        metrics = {"rouge_l": 0.5, "by_style": {"qa": 0.25}}
        predictor.export(folder / "hills" / "7", metrics=metrics, **EXPORT_OPTIONS)

    path = tmp_path_factory.mktemp(_EXPORTS) / "hills"  # its own: a test may change it
    shutil.copytree(made_once(tmp_path_factory, "exported", export) / "hills", path)
    return path / "7"


@pytest.fixture(scope="session")
def answer_arrays(predictor):
    """The arrays that the Keras model itself gives for `tests.serving.predictors.REQUEST`."""
    from tests.serving.predictors import EXPORT_OPTIONS, REQUEST

    with eagerly():
        outputs = predictor.run("serving_default", REQUEST, **EXPORT_OPTIONS)
    assert len(set(outputs["answer"].tolist())) == 4
    assert set(outputs["sources"].ravel().tolist()) >= {b"vocabulary", b"question", b"passage"}
    assert np.all(outputs["scores"][:, 0] > -4)
    return outputs


@pytest.fixture(scope="module")
def exports_once() -> Iterator[None]:
    """Every export is loaded once per module, whoever asks for it: servers, `tfmrc.load`, commands.

    A loaded export prepares its graphs at its first request, which takes seconds. The one of
    `exported` stays for the modules that follow.
    """
    import tensorflow as tf

    load = tf.saved_model.load
    loaded = dict(_stays)

    def once(folder: Any) -> Any:
        key = Path(folder).resolve(), Path(folder, "saved_model.pb").stat().st_mtime_ns
        if key not in loaded:
            loaded[key] = load(str(folder))
            if key[0].parent.parent.name.startswith(_EXPORTS):
                _stays[key] = loaded[key]
        return loaded[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tf.saved_model, "load", once)
        yield


@pytest.fixture(scope="module")
def predictors_once() -> Iterator[None]:
    """Every saved predictor is loaded once per module, whichever command asks for it.

    A loaded predictor builds its model and traces its signatures, which takes seconds.
    """
    from tfmrc import Predictor

    load = Predictor.load
    loaded: dict[Any, Any] = {}

    def once(folder: Any, *, verify: bool = True) -> Any:
        key = Path(folder).resolve(), verify, (Path(folder) / "manifest.json").stat().st_mtime_ns
        if key not in loaded:
            loaded[key] = load(folder, verify=verify)
        return loaded[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Predictor, "load", once)
        yield


@pytest.fixture(scope="session")
def older_python(tmp_path_factory) -> str:
    """Python with TensorFlow 2.20: the one that TFMRC_TF220 names, or an environment made anew."""
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
