"""Runs tests in forks of a process that has imported TensorFlow, Keras and pytest, but no tfmrc.

    python -B -m tests.mutants.server

reads a JSON object per line, `{"tests": [...], "deselected": [...], "cpu": 60, "write": false}`,
and answers with `{"status": ..., "cpu": ..., "output": ...}`. A forked process imports tfmrc as it
is on the disk. It is ended after `cpu` seconds of processor time, or ten times as long on the
clock, so that a mutant that loops for ever is killed on a busy machine too, and not before.
"""

import gc
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

MEMORY = 16 * 2**30
TAIL = 2000


def run(tests: Sequence[str], deselected: Sequence[str], cpu: int, write: bool) -> dict[str, Any]:
    """Runs pytest on some files up to the first failure; status 0 means that all passed."""
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        pid = os.fork()
        if pid == 0:
            status = 70
            with suppress(BaseException):
                _prepare(output.fileno(), cpu, write)
                status = _pytest(tests, deselected)
            sys.stdout.flush()
            os._exit(status)
        ended = 0
        while not ended:
            ended, code, usage = os.wait4(pid, os.WNOHANG)
            if not ended:
                if time.monotonic() - start > 10 * cpu:
                    _end(pid)
                time.sleep(0.005)
        _end(pid)  # what the tests may have left
        output.seek(0)
        said = output.read().decode(errors="replace")[-TAIL:]
    status = os.waitstatus_to_exitcode(code)
    return {"status": status, "cpu": usage.ru_utime + usage.ru_stime, "output": said}


def _prepare(output: int, cpu: int, write: bool) -> None:
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.dont_write_bytecode = not write


def _pytest(tests: Sequence[str], deselected: Sequence[str]) -> int:
    import pytest

    options = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "tests.own_stack"]
    options += [f"--deselect={name}" for name in deselected]
    return int(pytest.main([*options, *tests]))


def _end(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def main() -> None:
    """Answers requests until the input ends."""
    import hypothesis.strategies  # noqa: F401
    import keras  # noqa: F401
    import pytest  # noqa: F401
    import tensorflow as tf
    import tensorflow_text  # noqa: F401
    from tensorflow.python.eager import context

    if context.context()._context_handle is not None or "tfmrc" in sys.modules:
        sys.exit("TensorFlow has threads, or tfmrc is imported: neither may be before a fork.")
    found = importlib.util.find_spec("tfmrc")
    if found is None or not str(found.origin).startswith(os.getcwd() + os.sep):
        sys.exit(f"tfmrc would not be imported from {os.getcwd()}. Received: {found}")
    print(json.dumps({"tensorflow": tf.__version__}), flush=True)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
