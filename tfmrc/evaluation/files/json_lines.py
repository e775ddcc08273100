"""JSON lines files, with errors that name file and line."""

import gzip
import json
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import IO, Any, cast


def read_json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """Yields line numbers and values of a file of JSON lines (also `.gz`), without empty lines.

    Raises:
        ValueError: If a line is not UTF-8, not JSON or nested too deeply, or a compressed file is
            damaged. The message names file and line.
    """
    with open_bytes(path) as file:
        for number in count(1):
            try:
                line = file.readline()
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise ValueError(
                    f"{path}, line {number}: the compressed file is damaged or cut short ({error})"
                ) from error
            if not line:
                return
            if line.strip():
                yield number, _value(line, f"{path}, line {number}")


def _value(line: bytes, location: str) -> Any:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{location}: the text is not UTF-8 ({error.reason})") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg}, column {error.colno})"
        raise ValueError(f"{location}: {problem}. Received: {short(text)}") from error
    except (ValueError, RecursionError) as error:  # a number of too many digits, or deep nesting
        raise ValueError(f"{location}: not JSON that can be read ({error})") from error


def open_text(path: str | Path) -> IO[str]:
    """Opens a text file for reading, decompressed if its name ends in `.gz`."""
    if str(path).endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8")
    return open(path, encoding="utf-8")


def open_bytes(path: str | Path) -> IO[bytes]:
    """Opens a file for reading bytes, decompressed if its name ends in `.gz`."""
    if str(path).endswith(".gz"):
        return cast(IO[bytes], gzip.open(path, "rb"))
    return open(path, "rb")


def short(value: Any) -> str:
    """Returns a value for an error message, cut to 80 characters."""
    shown = value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 80 else shown[:77] + "..."
