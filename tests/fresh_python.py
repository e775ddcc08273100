"""Starts another Python: for another backend, other devices, clean imports, a kill."""

import contextlib
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from multiprocessing import Pipe
from multiprocessing.connection import Connection
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


_ready: Connection | None = None


def forked(*arguments: object) -> str:
    """Returns what Python prints with `-c` or `-m` and these arguments, as `run` does.

    The process has imported what the tests import, and has computed nothing: TensorFlow can still
    be given other devices, and can still be forked. It is forked from the one of `keep_one_ready`,
    which saves the seconds of the imports; where there is none, `run` starts a new Python.
    """
    if _ready is None:
        return run(*arguments)
    with tempfile.TemporaryDirectory() as folder:
        _ready.send((list(map(str, arguments)), folder))
        status = _ready.recv()
        output, errors = (Path(folder, name).read_text() for name in ("stdout", "stderr"))
    if status:
        raise RuntimeError(f"{arguments} ended with {status}:\n{errors[-6000:]}")
    return output.strip()


def keep_one_ready(*pipes: Connection) -> None:
    """Forks a process that waits for `forked`, before this one computes anything.

    It ends with this process, and closes its copies of the pipes.
    """
    global _ready
    _ready, other = Pipe()
    if os.fork() == 0:
        with contextlib.suppress(EOFError):
            for pipe in (_ready, *pipes):
                pipe.close()
            while True:
                arguments, folder = other.recv()
                process = os.fork()
                if process == 0:
                    other.close()
                    _become(arguments, folder)
                other.send(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
        os._exit(0)
    other.close()


def _become(arguments: list[str], folder: str) -> None:
    """Runs a program and ends the process."""
    status = 1
    try:
        os.environ.update(environment())
        os.chdir(ROOT)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(Path(folder, name), os.O_WRONLY | os.O_CREAT), number)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
        kind, program, *sys.argv[1:] = arguments
        sys.argv[0] = kind
        if kind == "-m":
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        end(status)


def end(status: int) -> None:
    """Ends a forked process with what it has printed, without the work of its parent's exit."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
