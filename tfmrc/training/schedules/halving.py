"""A learning rate that is halved every few epochs."""

from typing import Any

import keras


@keras.saving.register_keras_serializable(package="tfmrc")
class Halving(keras.optimizers.schedules.LearningRateSchedule):
    """Halves the learning rate at the beginning of an epoch, and again every few epochs.

    Epochs count from 1: `rate(epoch) = initial * 0.5 ** n`, `n` the number of epochs among
    `first_epoch, first_epoch + every, ...` that have begun.

    Args:
        initial: the learning rate of the first epochs.
        steps_per_epoch: updates of an epoch.
        first_epoch: the first epoch of half the rate.
        every: epochs from one halving to the next.

    Call arguments:
        step: number of updates made so far, a scalar integer tensor.

    Returns:
        The learning rate, a scalar float32 tensor.

    Raises:
        ValueError: a number is not positive.

    Example:

    >>> from tfmrc.training import Halving
    >>> rate = Halving(0.1, steps_per_epoch=10, first_epoch=3, every=2)
    >>> [round(float(rate(10 * epoch)), 4) for epoch in range(6)]
    [0.1, 0.1, 0.05, 0.05, 0.025, 0.025]

    Reference: Zhao et al. 2018, section 3.2 (from epoch 8 every 2 epochs).
    """

    def __init__(
        self, initial: float, steps_per_epoch: int, first_epoch: int = 8, every: int = 2
    ) -> None:
        numbers = {
            "initial": initial,
            "steps_per_epoch": steps_per_epoch,
            "first_epoch": first_epoch,
            "every": every,
        }
        for name, value in numbers.items():
            if not value > 0:
                raise ValueError(f"`{name}` must be positive. Received: {name}={value}")
        self.initial = float(initial)
        self.steps_per_epoch = int(steps_per_epoch)
        self.first_epoch = int(first_epoch)
        self.every = int(every)

    def __call__(self, step: Any) -> Any:
        epoch = keras.ops.cast(step, "int32") // self.steps_per_epoch + 1
        halvings = keras.ops.maximum((epoch - self.first_epoch) // self.every + 1, 0)
        return self.initial * keras.ops.power(0.5, keras.ops.cast(halvings, "float32"))

    def get_config(self) -> dict[str, Any]:
        return {
            "initial": self.initial,
            "steps_per_epoch": self.steps_per_epoch,
            "first_epoch": self.first_epoch,
            "every": self.every,
        }
