"""One file for the whole state of a training, written at once or not at all."""

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_FACTS = "facts.json"
_BROKEN = (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile)


class BrokenStateError(ValueError):
    """The file is cut, damaged or something else."""


def write_state(
    path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]
) -> None:
    """Writes arrays and facts to `path`.

    They go to a temporary file beside it, which is flushed to the disk and then renamed: a kill
    at any moment leaves either the old file or the new one.

    Args:
        path: the file; its folder is made.
        arrays: name to array; bfloat16 is kept too.
        facts: what JSON can say.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    dtypes = {name: str(array.dtype) for name, array in arrays.items()}
    text = json.dumps({"facts": facts, "dtypes": dtypes})
    members = {f"arrays/{name}": _plain(array) for name, array in arrays.items()}
    members[_FACTS] = np.frombuffer(text.encode(), np.uint8)
    temporary = path.with_name(f".{path.name}.tmp")
    with open(temporary, "wb") as file:
        np.savez(file, **members)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    _flush_folder(path.parent)


def read_state(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Reads what `write_state` wrote, after a check of every byte.

    Args:
        path: the file.

    Returns:
        The arrays by name, and the facts.

    Raises:
        FileNotFoundError: there is no such file.
        BrokenStateError: it is cut, damaged or something else.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"{damaged} is damaged")
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(archive[_FACTS].tobytes().decode())
            arrays = {
                name: _typed(archive[f"arrays/{name}"], dtype)
                for name, dtype in header["dtypes"].items()
            }
            return arrays, header["facts"]
    except FileNotFoundError:
        raise
    except _BROKEN as error:
        raise BrokenStateError(
            f"The file cannot be read: {error}. Received: path={os.fspath(path)!r}"
        ) from error


def _plain(array: np.ndarray) -> np.ndarray:
    # NumPy's files know no bfloat16: its bits are kept as unsigned integers.
    return array.view(np.uint16) if str(array.dtype) == "bfloat16" else array


def _typed(array: np.ndarray, dtype: str) -> np.ndarray:
    if dtype != "bfloat16":
        return array
    import ml_dtypes

    return array.view(ml_dtypes.bfloat16)


def _flush_folder(folder: Path) -> None:
    # The name, too, has to reach the disk; some systems cannot open folders and need not.
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
