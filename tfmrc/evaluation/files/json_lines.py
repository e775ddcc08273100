"""JSON lines files, with errors that name file and line."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast


def read_json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """Yields line numbers and values of a file of JSON lines (also `.gz`), without empty lines.

    Raises:
        ValueError: If a line is not JSON. The message names file and line.
    """
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(
                    f"{path}, line {number}: not JSON ({error.msg}, column {error.colno}). "
                    f"Received: {short(line)}"
                ) from error


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
