"""Commands on a small recipe, each in a forked process that may be killed.

The processes are forked from one that has imported TensorFlow and not used it, so that a command
takes a few seconds.
"""

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot  # noqa: F401

from tests import fresh_python
from tests.toy_paper import RECIPE, example
from tfmrc import data, experiments

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def write_recipe(folder: Path) -> Path:
    """Writes data and settings of a run that takes a second; returns the folder."""
    experiments.train  # noqa: B018  # is imported here once
    folder.mkdir(parents=True)
    data.write_examples(folder / "train.jsonl", [example(n) for n in range(64)])
    data.write_examples(folder / "test.jsonl", [example(n) for n in range(100, 140)])
    settings = RECIPE.replace("batch_size: 8", "batch_size: 8, checkpoint_every_steps: 2")
    settings = settings.replace("meteor: false", "meteor: false, batch_size: 4")
    (folder / "config.yaml").write_text(settings, encoding="utf-8")
    return folder


def run(
    action: Callable[[], int],
    folder: Path,
    *,
    seconds: float | None = None,
    change: int | None = None,
) -> tuple[int, int, str]:
    """Runs a function in a forked process.

    Args:
        action: callable. The function; it returns the exit status.
        folder: path. The folder whose changes count.
        seconds: float or None. The process gets SIGKILL after this time. Default: None.
        change: int or None. The process gets SIGKILL before this change of the folder, such as
            a new file or a new name, counted from 1. Default: None.

    Returns:
        The exit status, negative for a signal; the number of changes; what the process printed.
    """
    return finish(start(action, folder, change), seconds)


def start(
    action: Callable[[], int], folder: Path, change: int | None = None
) -> tuple[int, int, Path]:
    """Starts what `run` runs; returns the process, its output and the file of its count."""
    count = folder.parent / f"{folder.name}.count"
    count.write_text("0")
    reader, writer = os.pipe()  # what is printed takes no room on the disk
    child = os.fork()
    if not child:
        status = 1
        try:
            os.dup2(writer, 1)
            os.dup2(writer, 2)
            os.close(reader)
            counter = _count_changes(folder, change)
            status = action()
            with contextlib.suppress(OSError):  # where the disk is full on purpose
                count.write_text(str(counter[0]))
        except BaseException:
            traceback.print_exc()
        finally:
            fresh_python.end(status)
    os.close(writer)
    return child, reader, count


def finish(process: tuple[int, int, Path], seconds: float | None = None) -> tuple[int, int, str]:
    """Waits for what `start` started; returns what `run` returns."""
    child, reader, count = process
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reader, errors="replace") as output:
        said = output.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, int(count.read_text() or 0), said


def _count_changes(folder: Path, last: int | None) -> list[int]:
    """Counts the changes of a folder in this process; SIGKILL comes before the last one."""
    counter, inside = [0], str(folder)

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if not arguments[2] & WRITES:
                return
        elif event not in CHANGES:
            return
        path = arguments[0]
        if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(inside):
            counter[0] += 1
            if counter[0] == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    return counter
