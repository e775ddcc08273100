"""What benchmarks share: processes of their own, turns, seconds, memory, and tables.

The Pythons of peers import it, so it needs the standard library alone.
"""

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[1]

Result = TypeVar("Result")


def answer_of(*command: object, **variables: str) -> Any:
    """Runs a command with environment variables; returns the JSON value of its last line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **variables}
    words = list(map(str, command))
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(f"{words} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def in_turns(works: Mapping[str, Callable[[], Result]], rounds: int) -> dict[str, list[Result]]:
    """Returns the results of functions that take turns, so that other programs affect all alike."""
    results: dict[str, list[Result]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            results[name].append(work())
    return results


def seconds_of(
    work: Callable[[], Any], repeats: int = 1, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Returns the shortest time of several calls."""
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def memory(field: str = "VmRSS") -> float:
    """Returns the resident memory of this process in MiB; that of `VmHWM` is the peak."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def shown(values: Sequence[float], digits: int = 1) -> str:
    """Returns the median and the range of values."""
    middle, least, most = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f}-{most:.{digits}f})"


def print_row(*cells: object) -> None:
    """Prints a row of a table in Markdown."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_head(*names: str) -> None:
    """Prints the head of a table in Markdown."""
    print_row(*names)
    print_row(*("---" for _ in names))
