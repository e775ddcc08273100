"""A quiet end of programs whose output is piped into one that reads only a part of it."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

__all__ = ["CLOSED", "run_piped"]

CLOSED = 141  # the status of a program that the signal SIGPIPE ends, 128 + 13


def run_piped(program: Callable[[], int | None]) -> int:
    """Runs a program and returns its exit status.

    If the reader of standard output has closed it (`tfmrc predict ... | head`), the rest of the
    output is dropped and the status is 141, without a traceback.

    Args:
        program: callable. It returns its exit status; None for 0.

    Example:

    >>> run_piped(lambda: 2)
    2
    """
    try:
        try:
            return program() or 0
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # a replaced standard output has no descriptor
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
