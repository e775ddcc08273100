"""Learning rate: a linear rise, then half a cosine down to zero."""

import math
from typing import Any

import keras


@keras.saving.register_keras_serializable(package="tfmrc")
class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    """Rises linearly from 0 to the peak, then falls to 0 along a cosine.

    With `t` the number of updates already made, `w = warmup_steps`, `n = steps`:

        peak * t / w                                       for t < w
        peak * (1 + cos(pi * (t - w) / (n - w))) / 2       for w <= t < n
        0                                                  for t >= n

    The very first update (`t = 0`) has rate 0, as "from zero" says.

    Args:
        peak: the highest learning rate, reached after `warmup_steps` updates.
        warmup_steps: updates of the linear part; 0 starts at the peak.
        steps: updates of the whole training, the linear part included.

    Call arguments:
        step: number of updates made so far, a scalar integer tensor.

    Returns:
        The learning rate, a scalar float32 tensor.

    Raises:
        ValueError: `peak` is negative, `warmup_steps` is negative or not below `steps`.

    Example:

    >>> from tfmrc.training import WarmupCosine
    >>> schedule = WarmupCosine(peak=1.0, warmup_steps=4, steps=8)
    >>> [round(float(schedule(t)), 3) for t in range(9)]
    [0.0, 0.25, 0.5, 0.75, 1.0, 0.854, 0.5, 0.146, 0.0]

    Reference: Nishida et al. 2019, "Multi-style Generative Reading Comprehension", appendix A.
    """

    def __init__(self, peak: float, warmup_steps: int, steps: int) -> None:
        if peak < 0:
            raise ValueError(f"`peak` must not be negative. Received: peak={peak}")
        if warmup_steps < 0 or warmup_steps >= steps:
            raise ValueError(
                "`warmup_steps` must be at least 0 and below `steps`, the updates of the whole "
                f"training. Received: warmup_steps={warmup_steps}, steps={steps}"
            )
        self.peak = float(peak)
        self.warmup_steps = int(warmup_steps)
        self.steps = int(steps)

    def __call__(self, step: Any) -> Any:
        step = keras.ops.cast(step, "float32")
        rise = step / max(self.warmup_steps, 1)
        share = (step - self.warmup_steps) / (self.steps - self.warmup_steps)
        share = keras.ops.clip(share, 0.0, 1.0)
        fall = 0.5 * (1.0 + keras.ops.cos(math.pi * share))
        return self.peak * keras.ops.where(step < self.warmup_steps, rise, fall)

    def get_config(self) -> dict[str, Any]:
        return {"peak": self.peak, "warmup_steps": self.warmup_steps, "steps": self.steps}
