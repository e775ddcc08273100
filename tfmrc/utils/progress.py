"""Progress on standard error: how much is done, how fast, and how long the rest takes."""

import io
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")

_SHOWN = ContextVar("shown", default=False)
_MILLION = 1_000_000


class Progress:
    """Lines about a long piece of work; a short one has none.

    Args:
        what: str. The work.
        total: int. Its whole size.
        unit: str. The unit of sizes; `"MB"` for bytes.

    Example:

    >>> Progress("reading a.json", 80_000_000, "MB").line(20_000_000, seconds=10)
    'reading a.json: 20 of 80 MB, 2 a second, 0:30 left'
    """

    def __init__(self, what: str, total: int, unit: str) -> None:
        self.what, self.total, self.unit = what, total, unit
        self._start = self._last = time.monotonic()

    def line(self, done: int, seconds: float) -> str:
        scale = _MILLION if self.unit == "MB" else 1
        left = round(max(0, self.total - done) * seconds / max(done, 1))
        return (
            f"{self.what}: {done / scale:,.0f} of {self.total / scale:,.0f} {self.unit}, "
            f"{done / scale / seconds:,.3g} a second, {left // 60}:{left % 60:02} left"
        )

    def update(self, done: int) -> None:
        """Prints a line if lines are shown and the last one is old."""
        now, is_terminal = time.monotonic(), sys.stderr.isatty()
        if now - self._last < (0.5 if is_terminal else 10) or not _SHOWN.get():
            return
        self._last = now
        line = self.line(done, now - self._start)
        start, end = ("\r\x1b[K", "") if is_terminal else ("", "\n")
        print(f"{start}{line}", end=end, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Clears the line of a terminal."""
        if sys.stderr.isatty() and self._last > self._start:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def shown(is_shown: bool = True) -> Iterator[None]:
    """Shows the progress of what is read and predicted inside the block."""
    token = _SHOWN.set(is_shown)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def counted(items: Sequence[Item], what: str, unit: str) -> Iterator[Item]:
    """Yields items and shows how many there were."""
    progress = Progress(what, len(items), unit)
    for number, item in enumerate(items, 1):
        yield item
        progress.update(number)
    progress.close()


class WatchedFile(io.FileIO):
    """A file of bytes that shows how much of it is read."""

    def __init__(self, path: Any) -> None:
        super().__init__(path)
        size = os.fstat(self.fileno()).st_size
        self._progress = Progress(f"reading {path}", size, "MB")

    def readinto(self, buffer: Any) -> int | None:
        size = super().readinto(buffer)
        self._progress.update(self.tell())
        return size

    def close(self) -> None:
        if not self.closed:
            self._progress.close()
        super().close()
