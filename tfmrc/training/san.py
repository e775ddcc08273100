"""What SAN's training is made of, as arguments of `model.compile`."""

from typing import Any

import keras

from tfmrc.losses import SpanPositionNLL
from tfmrc.training.optimizers.loss_scale import LossScale


def san(
    steps_per_epoch: int,
    learning_rate: float = 0.002,
    epochs_per_halving: float = 10,
    model: keras.Model | None = None,
) -> dict[str, Any]:
    """The training of SAN, as arguments of `model.compile`: plain Keras objects, replace any.

    Adamax; the learning rate is halved after every `epochs_per_halving` epochs. The loss is
    `-log P_begin - log P_end`, each normalised over the global batch by the sample weights that
    `tfmrc.preprocessing.SANPreprocessor` makes. Batches of 32 and the dropout of 0.4 are the paper's; gradients
    are not clipped, of which the paper says nothing.

    Args:
        steps_per_epoch: updates of an epoch.
        learning_rate: the first learning rate.
        epochs_per_halving: epochs until it is halved.
        model: the model to be compiled; it tells whether float16 is computed with, for which the
            loss is scaled.

    Returns:
        `{"optimizer": ..., "loss": {"begin": ..., "end": ...}}`.

    Raises:
        ValueError: there is no step in an epoch, or no epoch in a halving.

    Example:

    >>> from tfmrc import training
    >>> optimizer = training.san(steps_per_epoch=100)["optimizer"]
    >>> [round(float(optimizer._learning_rate(step)), 6) for step in (0, 999, 1000, 2000)]
    [0.002, 0.002, 0.001, 0.0005]

    Reference: Liu et al. 2018 (SAN), section 3; Kingma and Ba 2015 (Adamax).
    """
    decay_steps = round(steps_per_epoch * epochs_per_halving)
    if steps_per_epoch < 1 or decay_steps < 1:
        raise ValueError(
            "An epoch has a step at least and a halving an update. Received: "
            f"steps_per_epoch={steps_per_epoch}, epochs_per_halving={epochs_per_halving}"
        )
    schedule = keras.optimizers.schedules.ExponentialDecay(
        learning_rate, decay_steps, 0.5, staircase=True
    )
    optimizer: keras.optimizers.Optimizer = keras.optimizers.Adamax(schedule)
    policy = keras.config.dtype_policy() if model is None else model.dtype_policy
    if policy.compute_dtype == "float16":
        optimizer = LossScale(optimizer)
    return {
        "optimizer": optimizer,
        "loss": {"begin": SpanPositionNLL(), "end": SpanPositionNLL()},
    }
