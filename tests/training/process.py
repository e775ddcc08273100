"""Runs a module of the tests in a Python of its own: other devices, another backend, a kill."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def command(module, *arguments):
    return [sys.executable, "-m", f"tests.training.{module}", *map(str, arguments)]


def environment(**variables):
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        **variables,
    }


def run(module, *arguments, timeout=280, **variables):
    """Output of the module; fails with its own words when it fails."""
    result = subprocess.run(
        command(module, *arguments),
        cwd=ROOT,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if result.returncode:
        raise RuntimeError(f"{module} ended with {result.returncode}:\n{result.stderr[-6000:]}")
    return result.stdout


def start(module, *arguments, **variables):
    """The running process, its output thrown away."""
    return subprocess.Popen(
        command(module, *arguments),
        cwd=ROOT,
        env=environment(**variables),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
