"""Folders that are written under a temporary name and renamed, so that none is incomplete."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from tfmrc.predictors.manifest import FILE_NAME, listed_files, write_manifest

__all__ = ["check_target", "new_folder"]

ROOM = 1.1  # required free space, relative to the expected size


def check_target(path: str | PathLike[str], is_ours: Callable[[Path], bool]) -> Path:
    """Raises at once if a folder cannot be written or must not be replaced.

    Args:
        path: str or path. The folder to write.
        is_ours: callable. Function of an existing folder that returns True if it is of the same
            kind.

    Returns:
        The absolute path.

    Raises:
        FileExistsError: If there is a link, a file, or a folder with other content.
    """
    path = Path(path).absolute()
    if path.is_symlink():
        raise FileExistsError(
            f"{path} is a link to {path.readlink()}. Give the folder itself, or remove the link."
        )
    for parent in path.parents:
        if parent.exists():
            if not parent.is_dir():
                raise FileExistsError(f"{parent} is a file, so {path} cannot be created.")
            break
    if not path.exists():
        return path
    if not path.is_dir():
        raise FileExistsError(f"{path} is a file. Give a folder, or remove the file.")
    files = {each.relative_to(path).as_posix() for each in path.rglob("*") if not each.is_dir()}
    if files and not is_ours(path):
        raise FileExistsError(
            f"{path} holds something else ({sorted(files)[0]}) and is not replaced. Give another "
            "folder."
        )
    listed = set(listed_files(path))
    if listed:
        others = sorted(f for f in files - listed if Path(f).name != FILE_NAME)
        if others:
            raise FileExistsError(
                f"{path} also holds {others[0]}, which tfmrc did not write, and is not replaced. "
                "Move that file, or give another folder."
            )
    return path


@contextmanager
def new_folder(path: Path, size: int) -> Iterator[Path]:
    """Yields a folder to write to, which then replaces `path` and gets a manifest.

    The old folder at `path` is removed only after the new one is complete.

    Args:
        path: path. Result of `check_target`.
        size: int. Expected number of bytes.

    Raises:
        OSError: If there is not enough free disk space.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free
    if free < size * ROOM:
        raise OSError(
            f"There is not enough room for {path}: about {int(size * ROOM):,} bytes are needed, "
            f"{free:,} are free."
        )
    part, old = (path.with_name(f".{path.name}.{kind}") for kind in ("part", "old"))
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        yield part
        write_manifest(part)
        shutil.rmtree(old, ignore_errors=True)
        if path.exists():
            path.rename(old)
        part.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)
