"""Sizes and digests of a run's files, which are compared when the run is resumed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tfmrc.utils.files import sha256_of

__all__ = ["check_unchanged", "describe_inputs"]


def describe_inputs(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Returns size and SHA-256 digest of files, by name.

    Args:
        files: iterable of path. The files.

    Returns:
        `{name: {"bytes": ..., "sha256": ...}}`. Later ones of equal names include as many of their
        folders as tell them apart.
    """
    facts: dict[str, dict[str, Any]] = {}
    for file in files:
        name = file.name
        for parent in file.parents:
            if name not in facts:
                break
            name = f"{parent.name}/{name}"
        facts[name] = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
    return facts


def check_unchanged(
    noted: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]], folder: Path
) -> None:
    """Raises a ValueError if a resumed run would read other files than before.

    Args:
        noted: dict. Result of `describe_inputs` at the start of the run.
        now: dict. Its current result.
        folder: Path. The run's folder, for the message.
    """
    for name in {**noted, **now}:
        before, after = noted.get(name), now.get(name)
        if before != after:
            raise ValueError(
                f"{folder} was started with other data. Pass the same data, --fresh to start again "
                f"or --run FOLDER for another folder. Received: {name}: {_shown(after)}, there: "
                f"{_shown(before)}"
            )


def _shown(facts: dict[str, Any] | None) -> str:
    if facts is None:
        return "no such file"
    return f"{facts.get('bytes')} bytes, sha256 {str(facts.get('sha256'))[:12]}"
