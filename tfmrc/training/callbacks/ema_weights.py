"""EMA weights of a model: swapping them in for validation, saving or export."""

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np

from tfmrc.models.folder import optimizer_of
from tfmrc.training.callbacks.state_file import DIGEST_SIZE, check_room, digest_of
from tfmrc.utils import keras_private

_DIGEST_MARK = b"sha256:"
_ADAPTED = "adapted"  # in a file: the variables of layers with LoRA


def has_averages(model: keras.Model) -> bool:
    """Returns whether the optimizer of a model keeps averages, inside a loss scale or not."""
    return bool(getattr(_optimizer(model), "use_ema", False))


def _optimizer(model: keras.Model) -> Any:
    optimizer = getattr(model, "optimizer", None)
    return getattr(optimizer, "inner_optimizer", optimizer)


def average_pairs(model: keras.Model) -> list[tuple[Any, Any]]:
    """Returns the trained variables of a compiled model, each with its moving average.

    Args:
        model: `keras.Model`. A model compiled with an optimizer that has `use_ema=True`, inside a
            loss scale or not.

    Returns:
        Pairs of variables; an empty list before the first update, when no average exists.

    Raises:
        ValueError: If the model has no optimizer, one without averages, or one that has trained
            another model.
    """
    optimizer = _optimizer(model)
    _check_averages(model)
    if not optimizer.built or int(keras.ops.convert_to_numpy(optimizer.iterations)) == 0:
        return []
    variables = keras_private.optimizer_variables(optimizer)
    averages = keras_private.ema_variables(optimizer)
    own = {id(variable) for variable in model.variables}
    pairs = [
        (variable, average)
        for variable, average in zip(variables, averages, strict=True)
        if id(variable) in own or not isinstance(variable, keras.Variable)
    ]
    if variables and not pairs:
        raise ValueError(
            "The optimizer keeps the averages of another model; compile each model with an "
            f"optimizer of its own. Received: model={model.name!r} with optimizer={optimizer}"
        )
    return [(variable, average) for variable, average in pairs if average is not None]


def _check_averages(model: keras.Model) -> None:
    if not has_averages(model):
        raise ValueError(
            "The model must be compiled with an optimizer that keeps averages (`use_ema=True`); "
            "one without is trained with `training.callbacks(folder, ema_weights=False)`. "
            f"Received: model={model.name!r} with optimizer={_optimizer(model)}"
        )


@contextmanager
def ema_weights(model: keras.Model) -> Iterator[keras.Model]:
    """Temporarily swaps EMA weights into a model for validation, saving or export.

    Afterwards the weights are restored bit for bit, also if the block raises. The averages are not
    changed. Frozen weights have no average and stay. Before the first update no average exists, and
    the block runs with the weights themselves.

    Args:
        model: `keras.Model`. A model compiled with an optimizer that has `use_ema=True`.

    Yields:
        The model.

    Raises:
        ValueError: If the optimizer keeps no averages.

    Example:

    >>> import keras, numpy as np
    >>> from tfmrc import training
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    >>> model.set_weights([np.array([[1.0]])])
    >>> model.compile(training.AdamW(0.1, weight_decay=None, ema_momentum=0.5), "mse")
    >>> _ = [model.train_on_batch(np.ones((1, 1)), np.zeros((1, 1))) for _ in range(2)]
    >>> with training.ema_weights(model):
    ...     print(round(float(model(np.ones((1, 1)))[0, 0]), 3))
    0.85
    >>> round(float(model(np.ones((1, 1)))[0, 0]), 3)
    0.8

    Reference: Nishida et al. 2019, appendix A: averages of all weights, decay 0.9995, used at
    test time.
    """
    weights = swap_in(model)
    try:
        yield model
    finally:
        restore(weights)


def swap_in(model: keras.Model) -> list[tuple[Any, np.ndarray]]:
    """Swaps the averages into a model and returns the weights for `restore`.

    Args:
        model: `keras.Model`. A model compiled with an optimizer that has `use_ema=True`.

    Returns:
        Variables and their original values.

    Raises:
        ValueError: If the optimizer keeps no averages.
    """
    pairs = average_pairs(model)
    weights = [(variable, _copy(variable)) for variable, _ in pairs]
    for variable, average in pairs:
        variable.assign(_copy(average))
    return weights


def _copy(variable: Any) -> np.ndarray:
    # TensorFlow returns a view of the variable's memory, which must not be assigned.
    return np.array(keras.ops.convert_to_numpy(variable))


def restore(weights: list[tuple[Any, np.ndarray]]) -> None:
    """Restores the weights that `swap_in` returned.

    Args:
        weights: list. Variables and their values.
    """
    for variable, value in weights:
        variable.assign(value)


class EMAWeights(keras.callbacks.Callback):
    """Validates with EMA weights in `fit`, and uses them in `evaluate` and `predict`.

    Training continues with the weights themselves, exactly as without validation (Keras'
    `SwapEMAWeights` exchanges them by additions, which rounds). When `fit` ends, Keras leaves the
    averages in the model.

    Save and stop by `BestCheckpoint`: Keras' `ModelCheckpoint` and `EarlyStopping` keep the weights
    themselves, which are not those that were validated.

    Example:

    >>> from tfmrc import training
    >>> callbacks = [training.EMAWeights()]   # model.fit(..., callbacks=callbacks)
    """

    def __init__(self) -> None:
        super().__init__()
        self._weights: list[tuple[Any, np.ndarray]] | None = None

    def check_validation(self, model: keras.Model) -> None:
        """Raises a ValueError if a model has no averages; `fit` of tfmrc's models begins with it.

        Args:
            model: `keras.Model`. The compiled model, which is going to be validated.
        """
        _check_averages(model)

    def _swap_in(self) -> None:
        if self._weights is None:
            self._weights = swap_in(self.model)

    def _restore(self) -> None:
        if self._weights is not None:
            self.model  # noqa: B018  (on JAX: attaches the variables to the model)
            restore(self._weights)
            self._weights = None

    def on_test_begin(self, logs: Any = None) -> None:
        self._swap_in()

    def on_test_end(self, logs: Any = None) -> None:
        self._restore()

    def on_predict_begin(self, logs: Any = None) -> None:
        self._swap_in()

    def on_predict_end(self, logs: Any = None) -> None:
        self._restore()

    def on_train_begin(self, logs: Any = None) -> None:
        self._restore()  # a validation of an earlier `fit` may have been interrupted


def save_weights(
    model: keras.Model, path: str | os.PathLike[str], facts: Mapping[str, float] | None = None
) -> None:
    """Writes the weights of a model, without the optimizer, as a whole file.

    Free disk space is checked first, because HDF5 ends the process with a segmentation fault on a
    full disk. The new file is read back before it replaces an older one. Its last bytes, which HDF5
    ignores, are the SHA-256 digest of all others; `load_weights` compares it.

    Args:
        model: `keras.Model`. A built model.
        path: str or path. The file, which ends in `.weights.h5`; its folder is created. Read it
            with `model.load_weights`, or with `load_weights` of this module, which leaves the
            optimizer of a compiled model unchanged.
        facts: dict or None. Numbers to write into the file, which `facts_of` reads. Default: None.

    Raises:
        OSError: If the disk has too little free space, or the file system fails otherwise.

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
    check_room(path, [_size(variable) for variable in (*model.variables, *_adapted(model))])
    temporary = path.with_name(f".{path.name.removesuffix('.weights.h5')}.tmp.weights.h5")
    try:
        keras.saving.save_weights(model, temporary, objects_to_skip=optimizer_of(model))
        with h5py.File(temporary, "r+") as file:
            file.attrs.update(facts or {})
            for number, variable in enumerate(_adapted(model)):
                values = keras.ops.convert_to_numpy(variable)
                file[f"{_ADAPTED}/{number}"] = np.asarray(values, "float32")
        check_readable(temporary)
        with open(temporary, "r+b") as file:
            digest = digest_of(file, file.seek(0, os.SEEK_END))
            file.seek(0, os.SEEK_END)
            file.write(_DIGEST_MARK + digest.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def facts_of(path: str | os.PathLike[str]) -> dict[str, float]:
    """Returns the numbers that `save_weights` wrote into a file beside the weights."""
    with h5py.File(path, "r") as file:
        return {name: value.item() for name, value in file.attrs.items() if hasattr(value, "item")}


def check_readable(path: str | os.PathLike[str]) -> None:
    """Reads every array of an HDF5 file.

    Args:
        path: str or path. The file.

    Raises:
        OSError: If the file is cut or cannot be read.

    Example:

    >>> import pathlib, tempfile
    >>> from tfmrc.training.callbacks.ema_weights import check_readable
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.weights.h5"
    >>> _ = path.write_bytes(b"cut")
    >>> check_readable(path)
    Traceback (most recent call last):
    ...
    OSError: ...
    """

    def read(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset):
            node[...]

    with h5py.File(path, "r") as file:
        file.visititems(read)


def _size(variable: Any) -> int:
    width = keras.backend.standardize_dtype(variable.dtype)
    digits = "".join(character for character in width if character.isdigit())
    return math.prod(variable.shape) * (int(digits) // 8 if digits else 1)


def load_weights(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Reads weights into a model and leaves its optimizer unchanged.

    Layers with LoRA (`enable_lora`) have their kernels and updates apart, as they were saved, so
    that the updates can be trained further.

    Args:
        model: `keras.Model`. A built model.
        path: str or path. A file that `save_weights` wrote, or one without a digest.

    Raises:
        ValueError: If the file is missing or damaged, or does not fit the model.
    """
    check_weights(path)
    keras.saving.load_weights(model, str(path), objects_to_skip=optimizer_of(model))
    variables = _adapted(model)
    with h5py.File(path, "r") as file:
        arrays = [array[...] for _, array in sorted(file.get(_ADAPTED, {}).items(), key=_number)]
    if [array.shape for array in arrays] == [tuple(variable.shape) for variable in variables]:
        restore(list(zip(variables, arrays, strict=True)))


def _number(item: tuple[str, Any]) -> int:
    return int(item[0])


def _adapted(model: keras.Model) -> list[Any]:
    """Returns the variables of layers with LoRA.

    Keras saves the sum of kernel and update as the kernel, and loads an update whose two factors
    are 0: no training could change it any more.
    """
    layers = keras_private.all_sublayers(model)
    adapted = [layer for layer in layers if getattr(layer, "lora_enabled", False)]
    return [variable for layer in adapted for variable in layer.variables]


def check_weights(path: str | os.PathLike[str]) -> None:
    """Raises a ValueError if a file of weights is missing or damaged."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"There is no file of weights {path}.")
    try:
        h5py.File(path, "r").close()
    except OSError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END) - len(_DIGEST_MARK) - DIGEST_SIZE
        file.seek(max(size, 0))
        mark, digest = file.read(len(_DIGEST_MARK)), file.read()
        if mark == _DIGEST_MARK and digest != digest_of(file, size).encode():
            raise ValueError(f"{path} is damaged: it differs from what was written (SHA-256).")
