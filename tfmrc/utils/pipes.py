"""The output of programs: escaped texts, and a clear end if it cannot be written."""

import codecs
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

CLOSED = 141  # the status of a program that the signal SIGPIPE ends, 128 + 13
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")  # a terminal would obey them
JSON_ESCAPES = "tfmrc.json_escapes"  # an error handler that keeps JSON valid in every encoding


class _NotWrittenError(Exception):
    """Standard output could not be written."""


def _escape(error: Any) -> tuple[str, int]:
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(JSON_ESCAPES, _escape)


def print_text(text: str, file: TextIO | None = None) -> None:
    """Prints a text, which may come from anywhere, and flushes the output.

    Characters that the output cannot encode are escaped as in JSON. So are control characters
    other than tabs and ends of lines if the output is a terminal.

    Args:
        text: str. The text.
        file: Text stream or None. Default: standard output.

    Example:

    >>> import io
    >>> file = io.TextIOWrapper(io.BytesIO(), "ascii")
    >>> print_text("caf\xe9", file)
    >>> file.buffer.getvalue()
    b'caf\\\\u00e9\\n'
    """
    file = file or sys.stdout
    if file is None:  # closed before the program began
        return
    if file.isatty():
        text = CONTROLS.sub(lambda found: json.dumps(found[0])[1:-1], text)
    encoding = file.encoding or "utf-8"
    print(text.encode(encoding, JSON_ESCAPES).decode(encoding), file=file, flush=True)


def print_json(value: Any, indent: int | None = 2) -> None:
    """Prints a value as JSON."""
    print_text(json.dumps(value, ensure_ascii=False, indent=indent))


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
            try:
                print(end="", flush=True)
            except BrokenPipeError:
                raise
            except OSError as error:
                raise _NotWrittenError(str(error)) from error
    except BrokenPipeError:
        _drop()
        return CLOSED
    except _NotWrittenError as error:
        _drop()
        print(f"Standard output cannot be written: {error}", file=sys.stderr)
        return 1


def _drop() -> None:
    """Discards unwritten output, which Python would write again at exit."""
    with suppress(OSError, ValueError):  # a replaced standard output has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
