"""Starts a Python of its own: for another backend, other devices, clean imports, a kill."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment(**variables: str) -> dict[str, str]:
    """This process's, with the repository to import from, and no GPU."""
    found = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    return {**found, "CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu", **variables}


def run(*arguments: object, timeout: float = 280, **variables: str) -> str:
    """What Python prints when it is called so; fails with its own words when it fails."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{arguments} ended with {done.returncode}:\n{done.stderr[-6000:]}")
    return done.stdout.strip()


def start(*arguments: object, **variables: str) -> subprocess.Popen[bytes]:
    """The running process, its output thrown away."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env=environment(**variables),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
