"""The files of sources: which belong to one, and their examples."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tfmrc.data.example import Example
from tfmrc.data.formats.registry import find_format
from tfmrc.experiments.settings import Source
from tfmrc.utils.arguments import check_arguments


def check_source(number: int, source: Source) -> None:
    """Raises a ValueError if a source has settings that its format does not support.

    Args:
        number: int. Index of the source.
        source: `Source`. The source.
    """
    known = find_format(source.format)
    if known.one_style and len(source.styles) != 1:
        raise ValueError(
            f"The format {source.format} has answers of one style. "
            f"Received: sources.{number}.styles={list(source.styles)}"
        )
    for name in ("options", "train_options", "test_options"):
        try:
            check_arguments(known.reader, getattr(source, name), f"sources.{number}.{name}")
        except TypeError as error:
            raise ValueError(str(error)) from error


def files_of(source: Source, name: str, folder: Path, options: dict[str, Any]) -> list[Path]:
    """Returns a source's file and further files that belong to it.

    Raises:
        ValueError: If one of them does not exist.
    """
    known = find_format(source.format)
    if not known.is_file:
        return []
    path = folder / name
    files = [path, *known.besides(path, source.options | options).values()]
    for file in files:
        if not file.is_file():
            raise ValueError(f"A file of the experiment does not exist. Received: {file}")
    return files


def read(
    source: Source, name: str, folder: Path, options: dict[str, Any] | None = None
) -> Iterable[Example]:
    """Returns the examples of one file of a source.

    Raises:
        ValueError: If the file does not exist.
    """
    options = {**source.options, **(options or {})}
    files_of(source, name, folder, options)
    known = find_format(source.format)
    return known.read(folder / name if known.is_file else name, source.styles, **options)
