"""Files: read with clear errors, written under a temporary name and renamed, so never partial."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def user_path(path: str | os.PathLike[str]) -> Path:
    """Returns a user's path, with `~` expanded."""
    return Path(os.path.expanduser(path))


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object.

    Raises:
        ValueError: If the file is damaged or contains another value.
    """
    try:
        value = json.loads(path.read_bytes())  # with or without a byte order mark
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} must contain a JSON object. Received: {value!r:.200}")
    return value


def sha256_of(path: Path) -> str:
    """Returns the SHA-256 digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def version_of(name: str) -> int | None:
    """Returns the version of an export's folder by its name; None if it is not a version number.

    Example:

    >>> version_of("12"), version_of("1-backup"), version_of(str(2**63))
    (12, None, None)
    """
    if not (name.isascii() and name.isdecimal() and len(name) < 20):
        return None
    return int(name) if int(name) < 2**63 else None


def check_links(folder: str | os.PathLike[str]) -> None:
    """Raises a ValueError if a link in a folder leads out of it.

    Args:
        folder: str or path. A folder that is about to be read and may be untrusted.
    """
    root = Path(folder).resolve()
    blobs = (
        root / "../../blobs"
    ).resolve()  # Hugging Face's cache: its versions are links to these
    for path in root.rglob("*"):
        target = path.resolve()
        if path.is_symlink() and not {root, blobs} & {*target.parents}:
            raise ValueError(
                f"{path} leads out of the folder {folder}, to {path.readlink()}. Copy the file "
                "into the folder if you trust it."
            )


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a temporary path that replaces `path` when the block ends without an error.

    The temporary path is `.NAME.part` in the same folder. The block writes a file or a folder
    there. If it raises, the temporary path is removed and the target stays unchanged. A replaced
    folder is called `.NAME.old` until the new one has its name; see `restore`.

    Args:
        path: str or path. The target, a file or a folder. Its parent folder must exist.

    Example:

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "notes.txt"
    >>> with replacing(target) as part:
    ...     _ = part.write_text("an owl")
    >>> target.read_text(), part.exists()
    ('an owl', False)
    """
    target = Path(path)
    part = target.with_name(f".{target.name}.part")
    restore(target)
    _remove(part)
    try:
        yield part
        if part.is_dir() and target.exists():
            target.rename(_old(target))
        os.replace(part, target)
    except BaseException:
        _remove(part)
        raise
    finally:
        restore(target)


def restore(path: str | os.PathLike[str]) -> None:
    """Completes or undoes an interrupted replacement of a folder, for instance after SIGKILL.

    If the new folder does not have its name yet, the old one is renamed back; otherwise it is
    removed. Without an interrupted replacement nothing happens.

    Args:
        path: str or path. The folder.
    """
    target = Path(path)
    old = _old(target)
    if not old.is_dir() or old.is_symlink():
        return
    if target.exists():
        shutil.rmtree(old)
    else:
        old.rename(target)


def _old(path: Path) -> Path:
    return path.with_name(f".{path.name}.old")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes UTF-8 text to a file atomically; missing parent folders are created.

    Args:
        path: str or path. The file.
        text: str. Its content.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def check_space(path: str | os.PathLike[str], size: int) -> None:
    """Raises an OSError if a file does not fit on the disk.

    It is checked beforehand because on a full disk HDF5 may crash with a segmentation fault.

    Args:
        path: str or path. The file that is about to be written; its folder must exist.
        size: int. Number of bytes.

    Example:

    >>> check_space("x.h5", 10**18)
    Traceback (most recent call last):
    ...
    OSError: [Errno 28] The file needs 953,674,316,406.2 MiB, and the disk has ... 'x.h5'
    """
    folder = Path(path).parent
    free = shutil.disk_usage(folder).free
    if free < size:
        raise OSError(
            errno.ENOSPC,
            f"The file needs {size / 2**20:,.1f} MiB, and the disk has {free / 2**20:,.1f} MiB "
            "left. Nothing was written; free some space and run the program again",
            os.fspath(path),
        )
    with tempfile.TemporaryFile(
        dir=folder
    ) as file:  # file systems and users have limits of file sizes
        file.truncate(size)
