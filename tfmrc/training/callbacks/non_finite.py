"""A callback that ends a training at the first loss or gradient that is not finite."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import ops

from tfmrc.training.callbacks.checkpoint import Checkpoint
from tfmrc.utils import keras_private


class NonFiniteError(ValueError):
    """A loss or gradient is NaN or infinite.

    Args:
        what: str. The quantity that is not finite, such as "the loss `decoder_loss` (nan)".
        step: int. Number of batches so far, this one included.
        checkpoint: path or None. The last good checkpoint; None if the run has none.
    """

    def __init__(self, what: str, step: int, checkpoint: Path | None) -> None:
        self.step = step
        self.checkpoint = checkpoint
        good = (
            "No checkpoint had been written."
            if checkpoint is None
            else f"The last good checkpoint is {checkpoint}; the same program continues from it."
        )
        super().__init__(
            f"At step {step:,} {what} is not finite, and training stopped. {good} A lower learning "
            "rate, a smaller `clip_norm` or another precision than float16 may help"
        )


class StopOnNonFinite(keras.callbacks.Callback):
    """Ends `fit` with an error at the first loss or gradient that is not finite.

    After each step the losses in the logs are checked, and the trained weights by one compiled
    function, since a gradient that is not finite makes the weights not finite. The error names the
    step, the term of the loss or the weight, and the last good checkpoint. With a loss scale
    (float16) an update with such a gradient is skipped without an error.

    It must precede `Checkpoint` in the list of callbacks, so that no such state is saved.

    Args:
        checkpoint: `Checkpoint` or None. That of the same `fit`. Without one the step is counted
            from the start of the epoch. Default: None.

    Raises:
        NonFiniteError: In `fit`, at the first such step.

    Example:

    >>> import keras, numpy as np
    >>> from tfmrc import training
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> x, y = np.ones((2, 1)), np.array([[0.0], [np.nan]])
    >>> model.fit(x, y, verbose=0, callbacks=[training.StopOnNonFinite()])
    Traceback (most recent call last):
    ...
    tfmrc.training.callbacks.non_finite.NonFiniteError: At step 1 the loss `loss` (nan) is not ...
    """

    def __init__(self, checkpoint: Checkpoint | None = None) -> None:
        super().__init__()
        self.checkpoint = checkpoint
        self._is_finite: Callable[[], bool] | None = None

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self._is_finite = finiteness(self.model)

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        losses = {
            name: float(value)
            for name, value in (logs or {}).items()
            if name == "loss" or name.endswith("_loss")
        }
        wrong = [name for name, value in losses.items() if not math.isfinite(value)]
        if wrong:
            name = max(wrong, key=lambda name: name != "loss")  # a term is more specific
            self._stop(f"the loss `{name}` ({losses[name]})", batch)
        if self._is_finite is not None and not self._is_finite():
            keras_private.sync_state(self.model)
            for variable in self.model.trainable_variables:
                if not np.isfinite(np.asarray(ops.convert_to_numpy(variable), "float32")).all():
                    self._stop(f"the gradient of the weight `{variable.path}`", batch)

    def _stop(self, what: str, batch: int) -> None:
        checkpoint = self.checkpoint
        before = 0 if checkpoint is None else checkpoint.steps_of_earlier_epochs
        newest = None if checkpoint is None else checkpoint.newest
        raise NonFiniteError(what, before + batch + 1, newest)


def finiteness(model: keras.Model) -> Callable[[], bool]:
    """Returns a compiled function that returns True if all trained weights are finite.

    Args:
        model: `keras.Model`. Built; also one in a running `fit`.

    Example:

    >>> import keras
    >>> from tfmrc.training.callbacks.non_finite import finiteness
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> finiteness(model)()
    True
    >>> _ = model.layers[0].bias.assign([float("inf")])
    >>> finiteness(model)()
    False
    """

    def flags(values: list[Any]) -> Any:
        return ops.all(ops.stack([True, *(ops.all(ops.isfinite(value)) for value in values)]))

    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        run = tf.function(lambda: flags(keras_private.trained_values(model)))
        return lambda: bool(run())
    if backend == "jax":
        import jax

        flags = jax.jit(flags)
    return lambda: bool(flags(keras_private.trained_values(model)))
