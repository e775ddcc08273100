"""Averages of the weights that move with updates, and that `fit` leaves only when they are ripe."""

import warnings
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from tfmrc.training.optimizers.updates import descend
from tfmrc.utils import keras_private


@keras.saving.register_keras_serializable(package="tfmrc")
class Averages(keras.optimizers.Optimizer):
    """Mixin of optimizers with `use_ema`: the moving average of the weights.

    With `gradient_accumulation_steps` an average moves once per update, as with one large batch;
    Keras moves it at every batch. When `fit` ends, Keras assigns the averages to the weights.
    Here they stay as they are, with a warning, while the weights after the first update are more
    than half of their average. The mixin must be the first base class.
    """

    def _update_model_variables_moving_average(self, trainable_variables: Sequence[Any]) -> None:
        if not self.use_ema:
            return
        # The averages begin with 0 and are the weights themselves after the first update.
        rest = 1 - ops.cast(ops.not_equal(self.iterations, 0), "float32") * self.ema_momentum
        if self.gradient_accumulation_steps:
            rest = ops.where(keras_private.is_update(self), rest, 0.0)
        averages = keras_private.ema_variables(self)
        for variable, average in zip(trainable_variables, averages, strict=True):
            if average is not None:
                descend(average, rest, average - variable)

    def finalize_variable_values(self, var_list: Sequence[Any]) -> None:
        """Leaves the averages in the weights when `fit` ends, if there are ripe ones."""
        if not self.use_ema:
            return
        updates = int(ops.convert_to_numpy(self.iterations))
        first = self.ema_momentum ** (updates - 1) if updates else 1.0
        if first > 0.5:
            warnings.warn(
                f"After {updates:,} updates the average of the weights is {first:.0%} those of the "
                "first update, so `fit` does not replace the weights by it. Train longer, or use a "
                f"lower decay. Received: ema_momentum={self.ema_momentum}",
                stacklevel=2,
            )
            return
        super().finalize_variable_values(var_list)
        for variable in var_list:
            # On JAX it is the average's own memory, which the next `fit` must not give up twice.
            variable.assign(ops.copy(variable))
