"""One file for the whole state of training, replaced as a whole."""

import errno
import hashlib
import json
import math
import os
import shutil
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import keras
import numpy as np

_FACTS = "facts.json"
DIGEST_SIZE = 64  # characters of a SHA-256 digest, the comment of the archive


class BrokenStateError(ValueError):
    """The file is cut, damaged or something else."""


def values_of(variable: keras.Variable) -> np.ndarray:
    """Returns the values of a variable, without a copy where the backend shares its memory.

    They are to be read and released before the next update.

    Args:
        variable: `keras.Variable`.

    Example:

    >>> import keras
    >>> from tfmrc.training.callbacks.state_file import values_of
    >>> values_of(keras.Variable([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return np.asarray(keras.ops.copy(variable))


def write_state(
    path: str | os.PathLike[str], arrays: Mapping[str, Any], facts: Mapping[str, Any]
) -> None:
    """Writes arrays and facts to `path`.

    They are written to a temporary file, which is flushed to the disk and then renamed, so an
    interruption leaves either the old or the new file. The file is a NumPy archive; its comment is
    the SHA-256 digest of everything before the comment.

    Args:
        path: str or path. The file; its folder is created.
        arrays: dict. Arrays by name, or variables, which are converted one at a time, so that no
            copy of all is in memory; bfloat16 is supported.
        facts: dict. A JSON value.

    Raises:
        OSError: If the disk has too little free space, or the file system fails otherwise.

    Example:

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from tfmrc.training.callbacks.state_file import read_state, write_state
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "state.npz"
    >>> write_state(path, {"weight": np.array([1.0, 2.0])}, {"step": 7})
    >>> arrays, facts = read_state(path)
    >>> arrays["weight"].tolist(), facts
    ([1.0, 2.0], {'step': 7})
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    dtypes = {name: str(array.dtype) for name, array in arrays.items()}
    text = json.dumps({"facts": facts, "dtypes": dtypes})
    members: dict[str, Any] = {f"arrays/{name}": _Member(each) for name, each in arrays.items()}
    members[_FACTS] = np.frombuffer(text.encode(), np.uint8)
    check_room(path, [member.nbytes for member in members.values()])
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with open(temporary, "w+b") as file:
            np.savez(file, **members)
            # The last field of a ZIP archive is the length of its comment, 0 so far.
            file.seek(-2, os.SEEK_END)
            file.write(struct.pack("<H", DIGEST_SIZE))
            digest = digest_of(file, file.tell())
            file.seek(0, os.SEEK_END)
            file.write(digest.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def read_state(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Reads what `write_state` wrote, after comparing its digest.

    Args:
        path: str or path. The file.

    Returns:
        The arrays by name, and the facts.

    Raises:
        FileNotFoundError: If the file does not exist.
        BrokenStateError: If it is cut, damaged or something else.
    """
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END) - DIGEST_SIZE
            file.seek(max(size, 0))
            if size <= 0 or file.read() != digest_of(file, size).encode():
                raise ValueError("its digest is not that of its content")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                header = json.loads(archive[_FACTS].tobytes().decode())
                arrays = {
                    name: _typed(archive[f"arrays/{name}"], dtype)
                    for name, dtype in header["dtypes"].items()
                }
                return arrays, header["facts"]
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file can raise anything
        raise BrokenStateError(
            f"The file cannot be read: {error}. Received: path={os.fspath(path)!r}"
        ) from error


def check_room(path: Path, sizes: list[int]) -> None:
    """Raises if the disk has too little free space for a file, or takes none of its size.

    HDF5 ends the process with a segmentation fault on a full disk, and with messages of its own
    where a file is too large, so both are checked first.

    Args:
        path: path. The file; its folder exists.
        sizes: list of int. Bytes of each array that the file will hold.

    Raises:
        OSError: If there is too little free space, or the file cannot be written.

    Example:

    >>> from pathlib import Path
    >>> from tfmrc.training.callbacks.state_file import check_room
    >>> check_room(Path("x.npz"), [10**18])
    Traceback (most recent call last):
    ...
    OSError: [Errno 28] The disk has too little room: ... Nothing was written, and ... 'x.npz'
    """
    # Names, headers and alignment take up to 4 KiB per array, and a mebibyte covers the rest.
    needed = sum(sizes) + 4096 * len(sizes) + 2**20
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            f"The disk has too little room: {needed / 2**20:,.1f} MiB are needed and "
            f"{free / 2**20:,.1f} MiB are free. Nothing was written, and earlier files are intact. "
            "Free some space and start the same program again",
            os.fspath(path),
        )
    try:  # a limit of the size of files, a quota, a folder that is not writable
        with tempfile.TemporaryFile(dir=path.parent) as file:
            file.truncate(needed)
    except OSError as error:
        raise OSError(
            error.errno,
            f"No file of {needed / 2**20:,.1f} MiB can be written ({error.strerror}). Earlier "
            "files are intact; when it can, start the same program again",
            os.fspath(path),
        ) from None


def digest_of(file: IO[bytes], size: int) -> str:
    """Returns the SHA-256 digest of the first `size` bytes."""
    digest, left = hashlib.sha256(), size
    file.seek(0)
    while left > 0:
        block = file.read(min(left, 2**20))
        if not block:
            break
        digest.update(block)
        left -= len(block)
    return digest.hexdigest()


class _Member:
    """An array or a variable that becomes an array at the moment in which NumPy writes it."""

    def __init__(self, source: Any) -> None:
        self.source = source
        # NumPy's files do not support bfloat16: its bits are stored as unsigned integers.
        self.stored = np.dtype("uint16" if str(source.dtype) == "bfloat16" else source.dtype)
        self.nbytes = math.prod(source.shape) * self.stored.itemsize

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        source = self.source
        values = values_of(source) if isinstance(source, keras.Variable) else np.asarray(source)
        return values.view(self.stored)


def _typed(array: np.ndarray, dtype: str) -> np.ndarray:
    if dtype != "bfloat16":
        return array
    import ml_dtypes

    return array.view(ml_dtypes.bfloat16)


def _flush_folder(folder: Path) -> None:
    # The name must be flushed to the disk too; systems that cannot open folders do not need this.
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
