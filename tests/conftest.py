"""Shared setup of the tests: quiet TensorFlow, fixed seeds, bounded memory, the real data."""

import functools
import gc
import importlib.util
import os
import sqlite3  # noqa: F401  # before TensorFlow, whose SQLite has no full-text search
import sys
import typing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import memory, running
from tests.trained import (  # noqa: F401
    answer_arrays,
    exported,
    exports_once,
    older_python,
    predictor,
    predictors_once,
)

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("MPLBACKEND", "Agg")

# A program for a Python that has PyTorch and transformers.
collect_ignore = ["encoders/hugging_face/transformers_models.py"]

# No test fails because the machine is slow, and every run has the same examples.
settings.register_profile(
    "tfmrc",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tfmrc")

ROOT = Path(__file__).resolve().parent.parent


def data_folder() -> Path:
    """Returns the folder of real data: the variable TFMRC_DATA, or `../shared/data`."""
    return Path(os.environ.get("TFMRC_DATA", ROOT.parent / "shared" / "data"))


def torch_python() -> str | None:
    """A Python with PyTorch and transformers: TFMRC_TORCH_PYTHON, or this one if it has them."""
    named = os.environ.get("TFMRC_TORCH_PYTHON")
    if named:
        return named
    both = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
    return sys.executable if both else None


def pytest_configure(config: pytest.Config) -> None:
    for plugin in (memory, running):  # for the doctests of tfmrc too
        config.pluginmanager.register(plugin, plugin.__name__)
    _remember_protocols()
    gc.disable()  # while the tests are collected: what they import stays


def _remember_protocols() -> None:
    """Keeps the names of each protocol, as Python does from 3.12 on.

    Before, `isinstance` collects them again from all base classes, and TensorFlow asks it of every
    value that it converts to a tensor.
    """
    for name in ("_get_protocol_attrs", "_is_callable_members_only"):
        if sys.version_info < (3, 12):
            setattr(typing, name, functools.cache(getattr(typing, name)))


def pytest_report_header() -> list[str]:
    data = "found" if data_folder().is_dir() else "missing, tests marked shared_data stay out"
    torch = torch_python() or (
        "missing, tests marked torch stay out (TFMRC_TORCH_PYTHON names a Python with it)"
    )
    return [f"real data: {data}", f"PyTorch: {torch}"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = {"shared_data": not data_folder().is_dir(), "torch": torch_python() is None}
    missing["nncf"] = not (os.environ.get("TFMRC_NNCF_PYTHON") or importlib.util.find_spec("nncf"))
    absent = [marker for marker, is_missing in missing.items() if is_missing]
    deselected = {item for item in items if any(map(item.get_closest_marker, absent))}
    if deselected:
        config.hook.pytest_deselected(items=list(deselected))
        items[:] = [item for item in items if item not in deselected]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data, for tests marked `shared_data`."""
    return data_folder()


@pytest.fixture(autouse=True)
def seeds() -> None:
    """Starts every test from the same random state.

    TensorFlow's own seed is set once per module: setting it discards every compiled graph, so that
    each test of a shared model would build it again, and nothing here draws from it.
    """
    import random

    import numpy as np

    random.seed(0)
    np.random.seed(0)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Takes what the imports made out of the garbage collector, which then has little to walk.

    In the default tests TensorFlow does not optimise its graphs: that takes longer than they run.
    The slow tests, and exports in processes of their own, run as a user's programs do.
    """
    if session.config.option.markexpr == "not slow":
        import tensorflow as tf

        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    if "tfmrc.text.characters" in sys.modules:
        sys.modules["tfmrc.text.characters"].class_table()  # a table, for all forked processes
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # graphs are many objects, of which few are garbage
    gc.enable()
