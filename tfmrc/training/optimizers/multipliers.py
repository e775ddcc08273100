"""Factors of the learning rate per variable."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import keras

from tfmrc import keras_private


@keras.saving.register_keras_serializable(package="tfmrc")
class LearningRateMultipliers(keras.optimizers.Optimizer):
    """Mixin of an optimizer that multiplies the learning rate of some variables.

    A factor scales the whole update of its variables, weight decay included. With the factor 0 a
    variable stays as it is, though its gradient still counts in the clipped norm.

    The mixin comes first among the bases; its constructor is called last.
    """

    learning_rate_multipliers: dict[str, float]
    weight_decay: Any

    def set_multipliers(self, multipliers: Mapping[str, float] | None) -> None:
        """Sets the factors.

        Args:
            multipliers: dict or None. Regular expressions, searched in the path of a variable, and
                factors; the first match counts, and the factor is 1 without one. None for no
                factors.

        Raises:
            ValueError: A factor is negative, or a regular expression is not valid.
        """
        for pattern, factor in (multipliers or {}).items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(
                    "`learning_rate_multipliers` has regular expressions as its keys. "
                    f"Received: {pattern!r} ({error})"
                ) from error
            if not factor >= 0:
                raise ValueError(
                    "`learning_rate_multipliers` has factors of 0 or more. "
                    f"Received: {pattern!r}: {factor}"
                )
        self.learning_rate_multipliers = dict(multipliers or {})
        # Kept apart: replicas run this code in turn, and each of them changes the attribute.
        self._full_weight_decay = self.weight_decay

    def multiplier(self, variable: Any) -> float:
        """Returns the factor of a variable of the model."""
        known = keras_private.known_variable(self, variable)
        for pattern, factor in self.learning_rate_multipliers.items():
            if re.search(pattern, known.path):
                return float(factor)
        return 1.0

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable."""
        if self.learning_rate_multipliers:
            factor = self.multiplier(variable)
            if factor != 1.0:
                learning_rate = learning_rate * factor
        super().update_step(gradient, variable, learning_rate)

    def _apply_weight_decay(self, variables: Sequence[Any]) -> None:
        if self.weight_decay is None or not self.learning_rate_multipliers:
            super()._apply_weight_decay(variables)
            return
        groups: dict[float, list[Any]] = {}
        for variable in variables:
            groups.setdefault(self.multiplier(variable), []).append(variable)
        for factor, group in groups.items():
            # What is taken off is the product of weight, decay and learning rate.
            self.weight_decay = self._full_weight_decay * factor
            try:
                super()._apply_weight_decay(group)
            finally:
                self.weight_decay = self._full_weight_decay
