"""Loss scaling for float16 across replicas."""

from collections.abc import Sequence
from typing import Any

import keras

from tfmrc.training.distribution.replicas import sum_over_replicas


@keras.saving.register_keras_serializable(package="tfmrc")
class LossScale(keras.optimizers.LossScaleOptimizer):
    """Keras' dynamic loss scaling, where all replicas decide together to skip a step.

    The loss is multiplied by a scale before gradients are computed in float16. If all gradients
    are finite they are divided by it and handed to the inner optimizer (so that clipping sees
    their true size), and after `dynamic_growth_steps` such steps the scale doubles; otherwise the
    step is left out and the scale halves.

    Under a mirrored strategy Keras' class looks at the gradients of the first replica only, before
    they are summed: an overflow on another replica reaches the weights as NaN. Here a step is
    taken only if the gradients of every replica are finite.

    Args:
        inner_optimizer: the optimizer that updates the weights.
        initial_scale: the scale to begin with.
        dynamic_growth_steps: finite steps after which the scale doubles.

    Example:

    >>> import keras
    >>> from tfmrc.training import AdamW, LossScale
    >>> optimizer = LossScale(AdamW(0.1))
    >>> weight = keras.Variable([1.0], name="kernel")
    >>> optimizer.build([weight])
    >>> optimizer.apply([keras.ops.array([float("inf")])], [weight])
    >>> float(weight[0]), float(optimizer.dynamic_scale)
    (1.0, 16384.0)
    """

    def check_finite(self, grads: Sequence[Any]) -> Any:
        """Returns whether all gradients of all replicas are finite, a scalar boolean tensor."""
        present = [g for g in grads if g is not None]
        wrong = [keras.ops.any(keras.ops.logical_not(keras.ops.isfinite(g))) for g in present]
        count = keras.ops.sum(keras.ops.cast(keras.ops.stack(wrong), "float32"))
        (total,), _ = sum_over_replicas([count])
        return keras.ops.equal(total, 0.0)
