"""Digests of all files of a saved predictor or an export."""

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from tfmrc.utils.files import sha256_of

FILE_NAME = "manifest.json"
SAVED_MODEL = "saved_model.pb"
EXTRA = "assets.extra"  # SavedModel's folder for files that TensorFlow does not read
EXPORT_FORMAT = 2  # of inputs and outputs of signatures, in the model card
KEYS = ("sha256", "size")


class DamagedError(ValueError):
    """A folder's files are not those that were written."""


@dataclass(frozen=True)
class Verification:
    """The result of a verification that found no damage.

    Attributes:
        folder: path. The folder that holds the files.
        files: int. Number of files that were compared.
        size: int. Their total number of bytes.
    """

    folder: Path
    files: int
    size: int

    def __str__(self) -> str:
        return f"{self.folder}: {self.files} files, {self.size:,} bytes, as they were written"


def write_manifest(folder: Path) -> Path:
    """Writes the SHA-256 digest and size of every file of a folder into `manifest.json`.

    In a SavedModel the manifest is in `assets.extra`, which TensorFlow ignores.

    Args:
        folder: path. The folder, complete except for the manifest.

    Returns:
        The manifest.
    """
    extra = folder / EXTRA
    manifest = (extra if extra.is_dir() else folder) / FILE_NAME
    files = {
        path.relative_to(folder).as_posix(): {
            "sha256": sha256_of(path),
            "size": path.stat().st_size,
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != manifest
    }
    text = json.dumps({"files": files}, ensure_ascii=False, indent=2, sort_keys=True)
    manifest.write_text(text + "\n", encoding="utf-8")
    return manifest


def manifest_of(folder: Path) -> Path | None:
    """Returns the manifest of a folder, or None if it has none."""
    for path in (folder / FILE_NAME, folder / EXTRA / FILE_NAME):
        if path.is_file():
            return path
    return None


def listed_files(folder: Path) -> list[str]:
    """Returns the names that a folder's manifest lists, or [] if it has none or a damaged one."""
    try:
        return list(_entries(folder))
    except (FileNotFoundError, DamagedError):
        return []


def verify_files(folder: str | PathLike[str]) -> Verification:
    """Compares every file of a folder with its digest.

    Files that the manifest does not list are ignored.

    Args:
        folder: str or path. A saved predictor, or a version of an export.

    Raises:
        FileNotFoundError: If there is no manifest.
        DamagedError: If a file is missing or differs from what was written.
    """
    folder = Path(folder)
    entries = _entries(folder)
    for name, entry in entries.items():
        path = folder / name
        is_there = path.is_file()
        # The size first: a cut file is found without reading it.
        if (
            not is_there
            or path.stat().st_size != entry["size"]
            or sha256_of(path) != entry["sha256"]
        ):
            problem = "differs from what was written" if is_there else "is missing"
            raise DamagedError(f"{folder} is damaged: {name} {problem}.")
    return Verification(folder, len(entries), sum(entry["size"] for entry in entries.values()))


def _entries(folder: Path) -> dict[str, Any]:
    """Returns size and digest of each file, as the manifest of a folder lists them."""
    manifest = manifest_of(folder)
    if manifest is None:
        raise FileNotFoundError(
            f"{folder} has no {FILE_NAME}: it was not written by tfmrc, or the file is missing."
        )
    try:
        entries: dict[str, Any] = json.loads(manifest.read_bytes())["files"]
        return {name: {key: entry[key] for key in KEYS} for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(f"{manifest} is damaged: {error!r}") from error


def verify(folder: str | PathLike[str]) -> list[Verification]:
    """Compares the files of everything below a folder with their digests.

    Args:
        folder: str or path. A saved predictor, a run, an export or one of its versions, or a folder
            of exports.

    Returns:
        A `Verification` for each saved predictor and export.

    Raises:
        FileNotFoundError: If there is none.
        DamagedError: If a file is missing or differs from what was written. The message has a line
            for every folder.

    Example:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from tfmrc.storage.manifest import verify, write_manifest
    >>> folder = Path(tempfile.mkdtemp(), "saved")
    >>> folder.mkdir()
    >>> (folder / "config.json").write_bytes(b"{}")
    2
    >>> manifest = write_manifest(folder)
    >>> [result.files for result in verify(folder)]
    [1]
    """
    folder = Path(folder)
    folders = {
        path.parents[1] if path.parent.name == EXTRA else path.parent
        for path in folder.rglob(FILE_NAME)
    }
    results, damaged = [], []
    for saved in sorted(folders):
        if any(part.startswith(".") for part in saved.relative_to(folder).parts):
            continue  # still being written
        try:
            results.append(verify_files(saved))
        except DamagedError as error:
            damaged.append(str(error))
    if damaged:
        raise DamagedError("\n".join([*damaged, *map(str, results)]))
    if not results:
        raise FileNotFoundError(f"There is no {FILE_NAME} in {folder} or below it.")
    return results
