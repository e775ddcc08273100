"""Learning rate schedule: a logarithmic warmup, then a constant."""

import math
from typing import Any

import keras

from tfmrc.ops.typing import Tensor


@keras.saving.register_keras_serializable(package="tfmrc")
class LogWarmup(keras.optimizers.schedules.LearningRateSchedule):
    """Logarithmic warmup from 0 to a constant learning rate.

    After `t` updates the rate is `peak * min(1, log(t + 1) / log(warmup_steps))`.

    Args:
        peak: float. The learning rate after the warmup. Default: 0.001.
        warmup_steps: int. Updates of the warmup: the peak is reached at `t = warmup_steps - 1`;
            with 1 or 0 it is reached at once. Default: 1000.

    Call arguments:
        step: Number of previous updates, a scalar integer tensor.

    Returns:
        The learning rate, a scalar float32 tensor.

    Example:

    >>> from tfmrc.training import LogWarmup
    >>> schedule = LogWarmup(peak=1.0, warmup_steps=1000)
    >>> [round(float(schedule(t)), 3) for t in (0, 9, 99, 999, 5000)]
    [0.0, 0.333, 0.667, 1.0, 1.0]

    Reference: Xiao et al. 2018 (DAANET), "Implementation Details", where the function is named
    and not printed; this one is that of Yu et al. 2018 (QANet).
    """

    def __init__(self, peak: float = 0.001, warmup_steps: int = 1000) -> None:
        self.peak = float(peak)
        self.warmup_steps = int(warmup_steps)

    def __call__(self, step: Tensor) -> Tensor:
        step = keras.ops.cast(step, "float32")
        if self.warmup_steps < 2:
            return self.peak * keras.ops.ones_like(step)
        rise = keras.ops.log(step + 1.0) / math.log(self.warmup_steps)
        return self.peak * keras.ops.minimum(rise, 1.0)

    def get_config(self) -> dict[str, Any]:
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}
