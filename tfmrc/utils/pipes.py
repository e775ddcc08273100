"""A clear end of programs whose output cannot be written, or is read only in part."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

__all__ = ["CLOSED", "run_piped"]

CLOSED = 141  # the status of a program that the signal SIGPIPE ends, 128 + 13


class _NotWrittenError(Exception):
    """Standard output could not be written."""


def run_piped(program: Callable[[], int | None]) -> int:
    """Runs a program and returns its exit status.

    If the reader of standard output has closed it (`tfmrc predict ... | head`), the rest of the
    output is dropped and the status is 141, without a traceback. If it cannot be written, as on a
    full disk, the status is 1, and standard error has the reason.

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
            _flush()
    except BrokenPipeError:
        _drop()
        return CLOSED
    except _NotWrittenError as error:
        _drop()
        print(f"Standard output cannot be written: {error}", file=sys.stderr)
        return 1


def _flush() -> None:
    if sys.stdout is None:  # closed before the program began
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _NotWrittenError(str(error)) from error


def _drop() -> None:
    """Drops what has not been written, which Python would write again at its end."""
    with suppress(OSError, ValueError):  # a replaced standard output has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
