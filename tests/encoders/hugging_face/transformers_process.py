"""Runs a program in the Python that has PyTorch and transformers."""

import os
import subprocess

from tests import fresh_python
from tests.conftest import torch_python

QUIET = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "PYTHONPATH": ""}


def run(*arguments):
    """Runs the program; its errors are those of the test."""
    subprocess.run(
        [torch_python(), *map(str, arguments)],
        check=True,
        timeout=fresh_python.HOUR,
        env={**os.environ, **QUIET},
    )
