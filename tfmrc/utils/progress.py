"""Progress on standard error: how much is done, the rate and the remaining time."""

import io
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")

SECONDS = 10  # between two lines
_SHOWN = ContextVar("show_progress", default=False)


@contextmanager
def show_progress(is_shown: bool = True) -> Iterator[None]:
    """Context in which the progress of reading and predicting is shown."""
    token = _SHOWN.set(is_shown)
    try:
        yield
    finally:
        _SHOWN.reset(token)


class Progress:
    """Prints progress lines about a long task; a short one gets none.

    Args:
        what: str. The task.
        total: int. Its size; 0 if it is unknown.
        unit: str. The unit of sizes; `"MB"` or `"kB"` for bytes.
    """

    def __init__(self, what: str, total: int, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._scale = {"MB": 1_000_000, "kB": 1_000}.get(unit, 1)
        self._start = self._last = time.monotonic()

    def update(self, done: int) -> None:
        """Prints a line if progress is shown and the last line is some time ago."""
        now = time.monotonic()
        if not _SHOWN.get() or now - self._last < SECONDS:
            return
        self._last, rate = now, max(done, 1) / (now - self._start)
        of = rest = ""
        if self._total:
            left = round((self._total - done) / rate)
            of = f" of {self._total / self._scale:,.0f}"
            rest = f", {left // 60}:{left % 60:02} left"
        print(
            f"{self._what}: {done / self._scale:,.0f}{of} {self._unit}, "
            f"{rate / self._scale:,.3g} a second{rest}",
            file=sys.stderr,
            flush=True,
        )


def counted(items: Sequence[Item], what: str, unit: str) -> Iterator[Item]:
    """Yields items and shows how many were consumed."""
    progress = Progress(what, len(items), unit)
    for number, item in enumerate(items, 1):
        yield item
        progress.update(number)


class WatchedFile(io.FileIO):
    """A binary file that shows how much of it was read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        size = os.fstat(self.fileno()).st_size
        unit = "MB" if size >= 10_000_000 else "kB"
        self._progress = Progress(f"reading {path}", size, unit)

    def readinto(self, buffer: Any) -> int | None:
        self._progress.update(self.tell())
        return super().readinto(buffer)
