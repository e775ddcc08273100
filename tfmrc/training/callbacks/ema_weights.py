"""Lends a model the moving averages of its weights: for validation, for saving, for export."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keras
import numpy as np


def average_pairs(model: keras.Model) -> list[tuple[Any, Any]]:
    """The trainable variables of a compiled model, each with its moving average.

    Args:
        model: compiled with an optimizer that has `use_ema=True`, loss scaling around it or not.

    Returns:
        Pairs of variables; none before the first update, when there is no average yet.

    Raises:
        ValueError: the model has no optimizer, or one without averages.
    """
    optimizer = getattr(model, "optimizer", None)
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    if optimizer is None or not optimizer.use_ema:
        raise ValueError(
            "The model must be compiled with an optimizer that keeps averages (`use_ema=True`). "
            f"Received: model={model.name!r} with optimizer={optimizer}"
        )
    if not optimizer.built or int(keras.ops.convert_to_numpy(optimizer.iterations)) == 0:
        return []
    variables = optimizer._trainable_variables
    averages = optimizer._model_variables_moving_average
    return [(v, a) for v, a in zip(variables, averages, strict=True) if a is not None]


@contextmanager
def ema_weights(model: keras.Model) -> Iterator[keras.Model]:
    """While the block runs, the model's weights are their moving averages.

    Afterwards the weights are again what they were, to the bit, also when the block raises. The
    averages are only read. Weights that are not trained have no average and stay. Before the
    first update there is no average, and the block runs with the weights themselves.

    Args:
        model: compiled with an optimizer that has `use_ema=True`.

    Yields:
        The model.

    Raises:
        ValueError: the model keeps no averages.

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
    kept = swap_in(model)
    try:
        yield model
    finally:
        restore(kept)


def swap_in(model: keras.Model) -> list[tuple[Any, np.ndarray]]:
    """Puts the averages into the model; returns what `restore` needs to undo it."""
    pairs = average_pairs(model)
    kept = [(variable, _copy(variable)) for variable, _ in pairs]
    for variable, average in pairs:
        variable.assign(_copy(average))
    return kept


def _copy(variable: Any) -> np.ndarray:
    # What TensorFlow shows as an array is the variable's own memory: never assign that.
    return np.array(keras.ops.convert_to_numpy(variable))


def restore(kept: list[tuple[Any, np.ndarray]]) -> None:
    """Puts the weights back that `swap_in` took out."""
    for variable, value in kept:
        variable.assign(value)


class EMAWeights(keras.callbacks.Callback):
    """Computes `val_…` numbers of `fit`, `evaluate` and `predict` with the averaged weights.

    Training goes on with the weights themselves, exactly as if there had been no validation
    (Keras' `SwapEMAWeights` exchanges them by additions, which rounds). When `fit` ends, Keras
    leaves the averages in the model.

    Example:

    >>> from tfmrc import training
    >>> callbacks = [training.EMAWeights()]   # model.fit(..., callbacks=callbacks)
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[tuple[Any, np.ndarray]] | None = None

    def _swap_in(self) -> None:
        if self._kept is None:
            self._kept = swap_in(self.model)

    def _restore(self) -> None:
        if self._kept is not None:
            self.model  # noqa: B018  (on JAX: attaches the variables to the model)
            restore(self._kept)
            self._kept = None

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


def save_weights(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Writes the model's weights, without the optimizer, so that the file is never half written.

    Args:
        model: a built model.
        path: ends in `.weights.h5`; the folder is made. Read it with `model.load_weights`, or
            with `load_weights` of this module, which leaves a compiled model's optimizer alone.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name.removesuffix('.weights.h5')}.tmp.weights.h5")
    keras.saving.save_weights(model, temporary, objects_to_skip=_optimizers(model))
    with open(temporary, "rb") as file:
        os.fsync(file.fileno())
    os.replace(temporary, path)


def load_weights(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Reads weights into the model; its optimizer stays as it is."""
    keras.saving.load_weights(model, str(path), objects_to_skip=_optimizers(model))


def _optimizers(model: keras.Model) -> list[Any]:
    optimizer = getattr(model, "optimizer", None)
    return [] if optimizer is None else [optimizer]
