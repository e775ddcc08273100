"""Files with one word per line."""

from collections.abc import Iterable
from pathlib import Path


def read_lines(path: Path) -> list[str]:
    """Reads the lines of a file; only a line feed ends a line."""
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes lines that `read_lines` reads."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
