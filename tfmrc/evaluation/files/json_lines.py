"""JSON lines files, with errors that name file and line."""

import codecs
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)
"""The errors of a compressed file that is damaged or cut short."""


def read_json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """Yields line numbers and values of a file of JSON lines (also gzip), without empty lines.

    Raises:
        ValueError: If a line is not UTF-8, not JSON or nested too deeply, or a compressed file is
            damaged. The message names file and line.
    """
    with open_bytes(path) as file:
        for number in count(1):
            try:
                line = file.readline()
            except DAMAGED as error:
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


@contextmanager
def open_text(path: str | Path, newline: str | None = None) -> Iterator[IO[str]]:
    """Opens a UTF-8 file for reading text, as `open_bytes` does; `newline` as in `open`.

    Raises:
        ValueError: Within the block, if the text is not UTF-8 or a compressed file is damaged.
    """
    with io.TextIOWrapper(open_bytes(path), encoding="utf-8", newline=newline) as file:
        try:
            yield file
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: the text is not UTF-8 ({error.reason})") from error
        except DAMAGED as error:
            raise ValueError(
                f"{path}: the compressed file is damaged or cut short ({error})"
            ) from error


def open_bytes(path: str | Path) -> IO[bytes]:
    """Opens a file for reading bytes; gzip is decompressed, a UTF-8 byte order mark is skipped.

    Raises:
        ValueError: If a compressed file is damaged or cut short at its beginning.
    """
    file = open(path, "rb")  # noqa: SIM115
    if file.peek(2)[:2] != b"\x1f\x8b":
        if file.peek(3)[:3] == codecs.BOM_UTF8:
            file.read(3)
        return file
    file.close()
    packed = gzip.open(path, "rb")  # noqa: SIM115
    try:
        if packed.peek(3)[:3] == codecs.BOM_UTF8:
            packed.read(3)
    except DAMAGED as error:
        packed.close()
        raise ValueError(
            f"{path}: the compressed file is damaged or cut short ({error})"
        ) from error
    return cast(IO[bytes], packed)


def read_object(path: str | Path) -> dict[str, Any]:
    """Reads a file that is one JSON object.

    Raises:
        ValueError: If it is not. The message names the file.
    """
    with open_text(path) as file:
        text = file.read()
    try:
        result = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not JSON ({error}). Received: {short(text)}") from error
    if not isinstance(result, dict):
        raise ValueError(f"{path}: must be an object. Received: {short(text)}")
    return result


def short(value: Any) -> str:
    """Returns a value for an error message, cut to 80 characters."""
    shown = value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 80 else shown[:77] + "..."
