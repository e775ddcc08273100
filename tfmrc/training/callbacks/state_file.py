"""One file for the whole state of training, replaced as a whole."""

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np

from tfmrc.training.distribution.hosts import by_first_host
from tfmrc.utils.files import replacing

_FACTS = "facts.json"


@by_first_host
def write_state(
    path: str | os.PathLike[str], variables: Mapping[str, keras.Variable], facts: Mapping[str, Any]
) -> None:
    """Writes variables and facts to a NumPy archive, which has a checksum of each member.

    The file is written under a temporary name, flushed to the disk and renamed, so an interruption
    leaves either the old or the new file. Variables are copied one at a time.

    Args:
        path: str or path. The file, which ends in `.npz`; its folder is created.
        variables: dict. Variables by name; bfloat16 is supported.
        facts: dict. A JSON value.

    Example:

    >>> import pathlib, tempfile
    >>> import keras
    >>> from tfmrc.training.callbacks.state_file import read_state, write_state
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "state.npz"
    >>> write_state(path, {"weight": keras.Variable([1.0, 2.0])}, {"step": 7})
    >>> arrays, facts = read_state(path)
    >>> arrays["weight"].tolist(), facts
    ([1.0, 2.0], {'step': 7})
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, open(part, "wb") as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(_FACTS, json.dumps({"facts": facts, "names": list(variables)}))
            for name, variable in variables.items():
                # A copy, unless the backend shares the variable's memory; it is written at once.
                values = np.asarray(keras.ops.copy(variable))
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, values, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def read_state(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Reads what `write_state` wrote.

    Args:
        path: str or path. The file.

    Returns:
        The arrays by name, and the facts.

    Raises:
        ValueError: If the file is cut, damaged or something else.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(archive[_FACTS])
            return {name: _typed(archive[name]) for name in header["names"]}, header["facts"]
    except Exception as error:  # a damaged archive can raise anything
        raise ValueError(f"{path} cannot be read: {error}") from error


def _typed(array: np.ndarray) -> np.ndarray:
    """Returns an array in bfloat16 as such; NumPy's files know it as two bytes."""
    return array.view("bfloat16") if array.dtype.kind == "V" else array
