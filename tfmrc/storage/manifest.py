"""Digests of all files of a saved predictor or an export."""

import hashlib
import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

__all__ = ["DamagedError", "Verification", "verify", "verify_files", "write_manifest"]

FILE_NAME = "manifest.json"
EXTRA = "assets.extra"  # SavedModel's folder for files that TensorFlow does not read
FORMAT = 1


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
        path.relative_to(folder).as_posix(): {"sha256": _digest(path), "size": path.stat().st_size}
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != manifest
    }
    manifest.write_bytes(_written(files))
    return manifest


def manifest_of(folder: Path) -> Path | None:
    """Returns the manifest of a folder, or None if it has none."""
    for path in (folder / FILE_NAME, folder / EXTRA / FILE_NAME):
        if path.is_file():
            return path
    return None


def listed_files(folder: Path) -> list[str]:
    """Returns the names that a folder's manifest lists, or [] if it has none or a damaged one."""
    manifest = manifest_of(folder)
    try:
        return [] if manifest is None else list(_files_of(manifest))
    except DamagedError:
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
    manifest = manifest_of(folder)
    if manifest is None:
        raise FileNotFoundError(
            f"{folder} has no {FILE_NAME}: it was not written by tfmrc, or the file is missing."
        )
    size = 0
    files = _files_of(manifest)
    for name, entry in files.items():
        path = folder / name
        if not path.is_file():
            raise DamagedError(f"{folder} is damaged: {name} is missing.")
        length = path.stat().st_size
        if length != entry["size"]:
            raise DamagedError(
                f"{folder} is damaged: {name} has {length:,} bytes, but {entry['size']:,} were "
                "written."
            )
        if _digest(path) != entry["sha256"]:
            raise DamagedError(
                f"{folder} is damaged: {name} differs from what was written (SHA-256)."
            )
        size += length
    return Verification(folder, len(files), size)


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
    for each in sorted(folders):
        if not _hidden(each, folder):
            try:
                results.append(verify_files(each))
            except DamagedError as error:
                damaged.append(str(error))
    if damaged:
        raise DamagedError("\n".join([*damaged, *map(str, results)]))
    if not results:
        raise FileNotFoundError(f"There is no {FILE_NAME} in {folder} or below it.")
    return results


def _hidden(path: Path, folder: Path) -> bool:
    """Returns True if a path is in a folder that is still being written."""
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _written(files: dict[str, Any]) -> bytes:
    """Returns the manifest's bytes, with a digest of its own content."""
    listed = json.dumps(files, ensure_ascii=False, indent=2, sort_keys=True)
    digest = hashlib.sha256(listed.encode()).hexdigest()
    manifest = {"files": files, "format": FORMAT, "sha256_of_files": digest}
    return json.dumps(manifest, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"


def _files_of(path: Path) -> dict[str, Any]:
    """Returns the entries of a manifest whose bytes are exactly those that were written."""
    content = path.read_bytes()
    try:
        files: dict[str, Any] = json.loads(content)["files"]
        intact = _written(files) == content and all(
            isinstance(entry["size"], int) and not _leads_out(name) for name, entry in files.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(f"{path} is damaged: {error}") from error
    if not intact:
        raise DamagedError(f"{path} is damaged: it differs from what was written.")
    return files


def _leads_out(name: str) -> bool:
    return Path(name).is_absolute() or ".." in Path(name).parts
