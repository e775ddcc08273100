"""Commands on a small recipe, each in a forked process that may be killed.

The processes are forked from one that has imported TensorFlow and not used it, so that a command
takes a few seconds.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot  # noqa: F401

from tests.test_toy_model import RECIPE, example
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
    log, count = folder.parent / f"{folder.name}.log", folder.parent / f"{folder.name}.count"
    log.write_text("")
    count.write_text("0")
    child = os.fork()
    if not child:
        status = 1
        try:
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            counter = _count_changes(folder, change)
            status = action()
            count.write_text(str(counter[0]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, int(count.read_text()), log.read_text(errors="replace")


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
