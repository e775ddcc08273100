"""Files of a model's weights, without its optimizer."""

import math
import os
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np

from tfmrc.models.folder import optimizer_of
from tfmrc.training.distribution.hosts import by_first_host
from tfmrc.utils import keras_private
from tfmrc.utils.files import check_space

_LORA = "lora"  # in a file: the variables of layers with LoRA


@by_first_host
def save_weights(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Writes the weights of a model, without the optimizer, as a whole file.

    Args:
        model: `keras.Model`. A built model.
        path: str or path. The file, which ends in `.weights.h5`; its folder is created. Read it
            with `model.load_weights`, or with `load_weights` of this module, which leaves the
            optimizer of a compiled model unchanged.

    Raises:
        OSError: If the disk has too little space; an earlier file is intact.

    Example:

    >>> import pathlib, tempfile
    >>> import keras
    >>> from tfmrc import training
    >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.weights.h5"
    >>> training.save_weights(model, path)
    >>> training.load_weights(model, path)
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    variables = [*model.variables, *_lora_variables(model)]
    # HDF5 may end the process on a full disk. Names and headers take up to 4 KiB for each array.
    sizes = [math.prod(v.shape) * np.dtype(v.dtype).itemsize + 4096 for v in variables]
    check_space(path, sum(sizes) + 2**20)
    # Keras asks for this ending.
    part = path.with_name(f".{path.name.removesuffix('.weights.h5')}.tmp.weights.h5")
    try:
        keras.saving.save_weights(model, part, objects_to_skip=optimizer_of(model))
        with h5py.File(part, "r+") as file:
            for number, variable in enumerate(_lora_variables(model)):
                values = keras.ops.cast(variable, "float32")
                file[f"{_LORA}/{number}"] = keras.ops.convert_to_numpy(values)
        with open(part, "rb") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def load_weights(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Reads weights into a model and leaves its optimizer unchanged.

    Layers with LoRA (`enable_lora`) get their kernels and updates apart, as they were saved, so
    that the updates can be trained further.

    Args:
        model: `keras.Model`. A built model.
        path: str or path. A file that `save_weights` or Keras wrote.
    """
    keras.saving.load_weights(model, str(path), objects_to_skip=optimizer_of(model))
    variables = _lora_variables(model)
    with h5py.File(path, "r") as file:
        group = file.get(_LORA, {})
        if len(group) == len(variables):  # else its updates are in the kernels
            for number, variable in enumerate(variables):
                variable.assign(group[str(number)][...])


def _lora_variables(model: keras.Model) -> list[Any]:
    """Returns the variables of layers with LoRA.

    Keras saves the sum of kernel and update as the kernel, and loads an update whose two factors
    are 0: no training could change it any more.
    """
    layers = keras_private.all_sublayers(model)
    return [v for layer in layers if getattr(layer, "lora_enabled", False) for v in layer.variables]
