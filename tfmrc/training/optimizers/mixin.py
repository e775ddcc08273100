"""Factors of the learning rate per variable."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import keras

from tfmrc.training.optimizers.updates import after, descend
from tfmrc.utils import keras_private


@keras.saving.register_keras_serializable(package="tfmrc")
class LearningRateMultipliers(keras.optimizers.Optimizer):
    """Mixin of optimizers that multiplies the learning rate of some variables.

    A factor scales the whole update of its variables, including weight decay. With the factor 0 a
    variable is not changed, but its gradient still counts in the clipped norm.

    The mixin must be the first base class; `set_multipliers` is called last.

    A schedule is computed once per update. Keras computes it anew for each variable that is
    decayed, so that the graph of a training step holds it as many times.
    """

    learning_rate_multipliers: dict[str, float]
    weight_decay: Any

    def set_multipliers(self, multipliers: Mapping[str, float] | None) -> None:
        """Sets the factors.

        Args:
            multipliers: dict or None. Factors by regular expression, searched in the path of a
                variable; the first match is used, and the factor is 1 without a match. None for no
                factors.
        """
        self.learning_rate_multipliers = dict(multipliers or {})

    def multiplier(self, variable: Any) -> float:
        """Returns the factor of a variable of the model."""
        known = keras_private.known_variable(self, variable)
        for pattern, factor in self.learning_rate_multipliers.items():
            if re.search(pattern, known.path):
                return float(factor)
        return 1.0

    def apply(self, grads: Sequence[Any], trainable_variables: Any = None) -> None:
        """Updates the variables, and counts the update if there was a batch."""
        with after(grads):
            super().apply(grads, trainable_variables)

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Decays and updates one variable."""
        factor = self.multiplier(variable)
        if factor != 1.0:
            learning_rate = learning_rate * factor
        known = keras_private.known_variable(self, variable)
        if self.weight_decay is not None and keras_private.uses_weight_decay(self, known):
            descend(variable, learning_rate * self.weight_decay, variable)
        super().update_step(gradient, variable, learning_rate)

    def _apply_weight_decay(self, variables: Sequence[Any]) -> None:
        """Does nothing: `update_step` decays, with the variable's own learning rate."""
