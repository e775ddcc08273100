"""Folders that are written under a temporary name and renamed, so that none is incomplete."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from tfmrc.storage.manifest import FILE_NAME, listed_files, write_manifest
from tfmrc.utils.files import replacing, restore

__all__ = ["check_target", "new_folder"]

ROOM = 1.1  # required free space, relative to the expected size


def check_target(path: str | PathLike[str], is_ours: Callable[[Path], bool]) -> Path:
    """Raises at once if a folder cannot be written or must not be replaced.

    A folder whose replacement was interrupted gets its old content back first.

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
    restore(path)
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
def new_folder(path: Path, size: int, *, replace: bool = True) -> Iterator[Path]:
    """Yields a folder to write to, which then replaces `path` and gets a manifest.

    The old folder at `path` is removed only after the new one is complete.

    Args:
        path: path. Result of `check_target`.
        size: int. Expected number of bytes.
        replace: bool. Whether a folder that exists when the new one is complete is replaced.
            Default: True.

    Raises:
        FileExistsError: If the folder exists and `replace` is False.
        OSError: If there is not enough free disk space, or another process writes the folder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free
    if free < size * ROOM:
        raise OSError(
            f"There is not enough room for {path}: about {int(size * ROOM):,} bytes are needed, "
            f"{free:,} are free."
        )
    with _only_process(path), replacing(path) as part:
        part.mkdir()
        yield part
        write_manifest(part)
        if path.exists() and not replace:
            raise FileExistsError(f"{path} was written by another process in the meantime.")


@contextmanager
def _only_process(path: Path) -> Iterator[None]:
    """Holds the lock `.NAME.lock`, which the system releases when the process ends."""
    import fcntl

    lock = path.with_name(f".{path.name}.lock")
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                raise BlockingIOError  # it was removed, and another process may have made its own
        except (BlockingIOError, FileNotFoundError) as error:
            raise OSError(f"Another process is writing {path}. Wait until it ends.") from error
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
