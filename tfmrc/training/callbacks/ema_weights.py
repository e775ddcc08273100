"""EMA weights of a model: swapped in for validation, saving or export."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import keras
import numpy as np

from tfmrc.utils import keras_private


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
    """
    optimizer = _optimizer(model)
    if not optimizer.built or int(keras.ops.convert_to_numpy(optimizer.iterations)) == 0:
        return []
    variables = keras_private.optimizer_variables(optimizer)
    averages = keras_private.ema_variables(optimizer)
    return [pair for pair in zip(variables, averages, strict=True) if pair[1] is not None]


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

    Example:

    >>> import keras, numpy as np
    >>> from tfmrc import training
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    >>> model.set_weights([np.array([[1.0]])])
    >>> model.compile(
    ...     training.AdamW(0.1, weight_decay=None, use_ema=True, ema_momentum=0.5), "mse")
    >>> _ = [model.train_on_batch(np.ones((1, 1)), np.zeros((1, 1))) for _ in range(2)]
    >>> with training.ema_weights(model):
    ...     print(round(float(model(np.ones((1, 1)))[0, 0]), 3))
    0.85
    >>> round(float(model(np.ones((1, 1)))[0, 0]), 3)
    0.8

    Reference: Nishida et al. 2019, appendix A: averages of all weights, decay 0.9995, used at
    test time.
    """
    pairs = average_pairs(model)
    weights = [_copy(variable) for variable, _ in pairs]
    try:
        for variable, average in pairs:
            variable.assign(_copy(average))
        yield model
    finally:
        for (variable, _), weight in zip(pairs, weights, strict=True):
            variable.assign(weight)


def _copy(variable: Any) -> np.ndarray:
    # TensorFlow returns a view of the variable's memory, which must not be assigned.
    return np.array(keras.ops.convert_to_numpy(variable))


class EMAWeights(keras.callbacks.Callback):
    """Validates with EMA weights in `fit`, and uses them in `evaluate` and `predict`.

    Training continues with the weights themselves, exactly as without validation (Keras'
    `SwapEMAWeights` exchanges them by additions, which rounds). When `fit` ends, the averages are
    left in the model (for exceptions see `tfmrc.training.AdamW`). If the optimizer keeps no
    averages, nothing is swapped.

    Save and stop by `BestCheckpoint`: Keras' `ModelCheckpoint` and `EarlyStopping` keep the weights
    themselves, which are not those that were validated.

    Example:

    >>> from tfmrc import training
    >>> callbacks = [training.EMAWeights()]   # model.fit(..., callbacks=callbacks)
    """

    def __init__(self) -> None:
        super().__init__()
        self._swapped = ExitStack()

    def on_test_begin(self, logs: dict[str, float] | None = None) -> None:
        if has_averages(self.model):
            self._swapped.enter_context(ema_weights(self.model))

    def on_test_end(self, logs: dict[str, float] | None = None) -> None:
        self.model  # noqa: B018  (on JAX: attaches the variables to the model)
        self._swapped.close()

    on_predict_begin, on_predict_end = on_test_begin, on_test_end
    on_train_begin = on_test_end  # a validation of an earlier `fit` may have been interrupted
