"""Folders that are written under a temporary name and renamed, so that none is incomplete."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from filelock import FileLock, Timeout

from tfmrc.storage.manifest import FILE_NAME, listed_files, write_manifest
from tfmrc.utils.files import replacing, restore, user_path

SPACE = 1.1  # required free space, relative to the expected size


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
    path = user_path(path).absolute()
    restore(path)
    if path.is_symlink() or path.is_file():
        raise FileExistsError(f"{path} is a link or a file. Give a folder.")
    files = {file.relative_to(path).as_posix() for file in path.rglob("*") if not file.is_dir()}
    if is_ours(path):
        listed = listed_files(path)
        files = {f for f in files if listed and f not in listed and Path(f).name != FILE_NAME}
    if files:
        raise FileExistsError(
            f"{path} is not replaced, because it holds {min(files)}, which was not written by this "
            "command. Move it, or give another folder."
        )
    return path


@contextmanager
def new_folder(path: Path, size: int, *, replace: bool = True) -> Iterator[Path]:
    """Yields a folder to write to, which then replaces `path` and gets a manifest.

    The old folder at `path` is removed only after the new one is complete. A lock, `.NAME.lock`
    beside it, keeps other processes out.

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
    if free < size * SPACE:
        raise OSError(
            f"There is not enough disk space for {path}: about {int(size * SPACE):,} bytes are "
            f"needed, {free:,} are free."
        )
    lock = path.with_name(f".{path.name}.lock")
    try:
        with FileLock(lock, timeout=0), replacing(path) as part:
            part.mkdir()
            yield part
            write_manifest(part)
            if path.exists() and not replace:
                raise FileExistsError(f"{path} was written by another process in the meantime.")
    except Timeout as error:
        raise OSError(f"Another process is writing {path}. Wait until it ends.") from error
