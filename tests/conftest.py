"""What all tests share: a quiet TensorFlow, fixed seeds, and where the real data lies."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
if "PYTEST_XDIST_WORKER" in os.environ:  # the workers share the cores
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")

# A slow machine is no failure; the same examples at every run.
settings.register_profile("tfmrc", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("tfmrc")

ROOT = Path(__file__).resolve().parent.parent


def data_folder() -> Path:
    """The folder of real data: the environment variable TFMRC_DATA, or `../shared/data`."""
    return Path(os.environ.get("TFMRC_DATA", ROOT.parent / "shared" / "data"))


def pytest_report_header() -> str:
    there = "found" if data_folder().is_dir() else "not there: tests marked shared_data stay out"
    return f"real data: {there}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if data_folder().is_dir():
        return
    left_out = [item for item in items if item.get_closest_marker("shared_data")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data, for tests marked `shared_data`."""
    return data_folder()


@pytest.fixture(autouse=True)
def seeds() -> None:
    """Every test starts from the same random state, whatever ran before it."""
    import random

    import numpy as np

    random.seed(0)
    np.random.seed(0)
    if "keras" in sys.modules:
        sys.modules["keras"].utils.set_random_seed(0)
