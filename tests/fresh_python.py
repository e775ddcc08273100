"""Starts another Python: for another backend, other devices, clean imports, a kill."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOUR = 3600.0
"""Guard against a process that hangs; no machine is that slow."""


def environment(**variables: str) -> dict[str, str]:
    """Returns the environment of this process with the repository on the path, and no GPU."""
    variables = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **variables}
    return {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu", **variables}


def run(*arguments: object, timeout: float = HOUR, **variables: str) -> str:
    """Returns what Python prints with these arguments; raises with its messages if it fails."""
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
    """Returns the running process, whose output is discarded."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env=environment(**variables),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
