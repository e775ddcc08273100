"""Factors of the learning rate per variable."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import keras

from tfmrc import keras_private


@keras.saving.register_keras_serializable(package="tfmrc")
class LearningRateMultipliers(keras.optimizers.Optimizer):
    """Mixin of optimizers that multiplies the learning rate of some variables.

    A factor scales the whole update of its variables, including weight decay. With the factor 0 a
    variable is not changed, but its gradient still counts in the clipped norm.

    The mixin must be the first base class; `set_multipliers` is called last.

    A schedule is computed twice per update: once for the weight decay of all variables, once for
    their update. Keras computes it anew for each variable that is decayed, so that the graph of a
    training step holds it as many times.
    """

    learning_rate_multipliers: dict[str, float]
    weight_decay: Any
    _decay_rate: Any = None

    def set_multipliers(self, multipliers: Mapping[str, float] | None) -> None:
        """Sets the factors.

        Args:
            multipliers: dict or None. Factors by regular expression, searched in the path of a
                variable; the first match is used, and the factor is 1 without a match. None for no
                factors.

        Raises:
            ValueError: If a factor is negative, or a regular expression is not valid.
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
        # A separate copy, because replicas run this code in turn and each changes the attribute.
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

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the next update."""
        return super().learning_rate if self._decay_rate is None else self._decay_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        keras.optimizers.Optimizer.learning_rate.fset(self, value)

    def _apply_weight_decay(self, variables: Sequence[Any]) -> None:
        if self.weight_decay is None:
            return
        # A tensor: a variable that is set as an attribute would count as one more of the optimizer.
        self._decay_rate = keras.ops.convert_to_tensor(super().learning_rate)
        try:
            self._decay_weights(variables)
        finally:
            self._decay_rate = None

    def _decay_weights(self, variables: Sequence[Any]) -> None:
        if not self.learning_rate_multipliers:
            super()._apply_weight_decay(variables)
            return
        groups: dict[float, list[Any]] = {}
        for variable in variables:
            groups.setdefault(self.multiplier(variable), []).append(variable)
        for factor, group in groups.items():
            # The product of weight, decay and learning rate is subtracted.
            self.weight_decay = self._full_weight_decay * factor
            try:
                super()._apply_weight_decay(group)
            finally:
                self.weight_decay = self._full_weight_decay
