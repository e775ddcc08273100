"""The number of batches that an execution of several steps has trained on."""

import math
from typing import Any

import keras

from tfmrc.utils import keras_private


class Execution:
    """Counts the batches of an execution (`steps_per_execution` of `compile`).

    Keras counts an execution as a whole. The data may end in the last one of an epoch: endless data
    do not, so that the epoch has more batches than `steps_per_epoch`.

    Example:

    >>> from types import SimpleNamespace
    >>> execution = Execution()
    >>> execution.begin(SimpleNamespace(steps_per_execution=4), 0, 10)
    >>> execution.end(SimpleNamespace(steps_per_execution=4))
    4
    """

    def __init__(self) -> None:
        self._updates: tuple[int, float] | None = None

    def begin(self, model: Any, batch: int, steps: int | None) -> None:
        """Notes the updates before an execution that may be shorter, in `on_train_batch_begin`.

        Args:
            model: `keras.Model`. The model, compiled.
            batch: int. The first batch of the execution.
            steps: int or None. Number of batches of the epoch; None if it is unknown, so that any
                execution may be the last one.
        """
        self._updates = None
        per_execution = getattr(model, "steps_per_execution", 1)
        if per_execution > 1 and (not steps or batch + per_execution > steps):
            keras_private.sync_state(model)
            self._updates = _updates(model.optimizer)

    def end(self, model: Any) -> int:
        """Returns the number of batches of the execution, in `on_train_batch_end`."""
        steps: int = getattr(model, "steps_per_execution", 1)
        if self._updates is None:
            return steps
        keras_private.sync_state(model)
        (calls, scale), (calls_before, scale_before) = _updates(model.optimizer), self._updates
        # The loss scale is halved in each step that it skips; it is doubled after thousands.
        skipped = max(0, round(math.log2(scale_before / scale))) if scale > 0 else 0
        return min(calls - calls_before + skipped or steps, steps)


def _updates(optimizer: Any) -> tuple[int, float]:
    """Returns the updates so far, without those that a loss scale has skipped, and the scale."""
    scale = getattr(optimizer, "dynamic_scale", getattr(optimizer, "initial_scale", 1.0))
    return keras_private.update_calls(optimizer), float(keras.ops.convert_to_numpy(scale))
