"""Loss scaling for float16 across replicas."""

from collections.abc import Sequence
from typing import Any

import keras

from tfmrc.training.distribution.replicas import sum_over_replicas


@keras.saving.register_keras_serializable(package="tfmrc")
class LossScale(keras.optimizers.LossScaleOptimizer):
    """Keras' dynamic loss scaling, where all replicas decide together to skip a step.

    The loss is multiplied by a scale before gradients are computed in float16. If all gradients
    are finite, they are divided by the scale and passed to the inner optimizer, so that clipping
    uses their true size. After `dynamic_growth_steps` such steps the scale is doubled. Otherwise
    the step is skipped and the scale is halved.

    Under a mirrored strategy Keras' class checks the gradients of the first replica only, before
    they are summed, so an overflow on another replica makes the weights NaN. Here a step is
    applied only if the gradients of every replica are finite.

    Args:
        inner_optimizer: `keras.optimizers.Optimizer`. The optimizer that updates the weights.
        initial_scale: float. The initial scale. Default: 32768.0.
        dynamic_growth_steps: int. Finite steps after which the scale is doubled. Default: 2000.

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
        """Returns True if all gradients of all replicas are finite, a scalar boolean tensor."""
        present = [g for g in grads if g is not None]
        wrong = [keras.ops.any(keras.ops.logical_not(keras.ops.isfinite(g))) for g in present]
        count = keras.ops.sum(keras.ops.cast(keras.ops.stack(wrong), "float32"))
        (total,), _ = sum_over_replicas([count])
        return keras.ops.equal(total, 0.0)
