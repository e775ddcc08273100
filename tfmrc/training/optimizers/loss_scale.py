"""Loss scaling for float16 across replicas, and the precision of trained weights."""

from collections.abc import Iterable, Sequence
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


def refuse_half_precision(dtypes: Iterable[str]) -> None:
    """Raises a ValueError if weights are trained in float16 or bfloat16.

    In bfloat16 the decay 0.999 of Adam is 1: its second moment stays 0, by which it divides.

    Args:
        dtypes: iterable of str. The dtypes of the weights.

    Example:

    >>> from tfmrc.training.optimizers.loss_scale import refuse_half_precision
    >>> refuse_half_precision(["float32", "bfloat16"])
    Traceback (most recent call last):
    ...
    ValueError: Weights in bfloat16 are not trained, since an optimizer needs numbers that are too \
small for it. Use dtype='mixed_bfloat16'. Received: dtype='bfloat16'
    """
    half = sorted({"float16", "bfloat16"} & set(dtypes))
    if half:
        raise ValueError(
            f"Weights in {half[0]} are not trained, since an optimizer needs numbers that are too "
            f"small for it. Use dtype='mixed_{half[0]}'. Received: dtype={half[0]!r}"
        )
