"""`tfmrc serve` in a process."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def command(models, *words):
    """Yields the process, and its addresses of REST and gRPC."""
    words = [sys.executable, "-m", "tfmrc", "serve", models, "--port=0", "--grpc-port=0", *words]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    ) as process:
        try:
            lines = [process.stdout.readline().split() for _ in range(4)]
            yield process, lines[1][-1], lines[2][-1]
        finally:
            process.kill()
