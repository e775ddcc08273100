"""What `AdamW` and `SGD` share: one gradient norm for all replicas, and rates of variables."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import keras

from tfmrc.ops.typing import Tensor
from tfmrc.training.distribution.replicas import dense, sum_over_replicas
from tfmrc.training.optimizers import updates
from tfmrc.training.optimizers.averages import Averages
from tfmrc.utils import keras_private

Rate: TypeAlias = float | keras.optimizers.schedules.LearningRateSchedule


@keras.saving.register_keras_serializable(package="tfmrc")
class OptimizerMixin(Averages):
    """Mixin of optimizers: clips the sum over replicas, and multiplies some learning rates.

    A factor scales the whole update of its variables, including weight decay. With the factor 0 a
    variable is not changed, but its gradient still counts in the clipped norm. Gradients that are
    accumulated (`gradient_accumulation_steps`) are averaged and then clipped.

    The mixin must be the first base class; `set_options` is called last.

    A schedule is computed once per update. Keras computes it anew for each variable that is
    decayed, so that the graph of a training step holds it as many times.
    """

    clip_norm: float | None
    learning_rate_multipliers: dict[str, float]
    weight_decay: float | None

    def set_options(
        self, clip_norm: float | None, learning_rate_multipliers: Mapping[str, float] | None
    ) -> None:
        """Sets the largest norm and the factors.

        Args:
            clip_norm: float or None. The largest norm of the gradient; None or 0 for no clipping.
            learning_rate_multipliers: dict or None. Factors by regular expression, searched in the
                path of a variable; the first match is used, and the factor is 1 without a match.
                None for no factors.
        """
        self.clip_norm = clip_norm or None
        self.learning_rate_multipliers = dict(learning_rate_multipliers or {})

    def multiplier(self, variable: Any) -> float:
        """Returns the factor of a variable of the model."""
        known = keras_private.known_variable(self, variable)
        for pattern, factor in self.learning_rate_multipliers.items():
            if re.search(pattern, known.path):
                return float(factor)
        return 1.0

    def apply(self, grads: Sequence[Tensor], trainable_variables: Any = None) -> None:
        """Updates the variables in a replica's context, and counts the update if there was a batch.

        Args:
            grads: list. One gradient per variable, or None.
            trainable_variables: list or None. The variables; None for those of `build`.
        """
        grads = dense(grads)
        with updates.after(grads):
            super().apply(grads, trainable_variables)

    def _clip_gradients(self, grads: Sequence[Tensor]) -> list[Tensor]:
        """Returns the clipped sum of the replicas' gradients, which Keras sums once more."""
        summed, replicas = sum_over_replicas(grads)
        if self.clip_norm is not None:
            summed = updates.clip_by_global_norm(summed, self.clip_norm)
        return [None if g is None else g / replicas for g in summed] if replicas > 1 else summed

    def update_step(self, gradient: Tensor, variable: Any, learning_rate: Tensor) -> None:
        """Decays and updates one variable."""
        factor = self.multiplier(variable)
        if factor != 1.0:
            learning_rate = learning_rate * factor
        known = keras_private.known_variable(self, variable)
        if self.weight_decay is not None and keras_private.uses_weight_decay(self, known):
            updates.descend(variable, learning_rate * self.weight_decay, variable)
        super().update_step(gradient, variable, learning_rate)

    def _apply_weight_decay(self, variables: Sequence[Any]) -> None:
        """Does nothing: `update_step` decays, with the variable's own learning rate."""

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "clip_norm": self.clip_norm,
            "learning_rate_multipliers": self.learning_rate_multipliers,
        }
