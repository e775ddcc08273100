"""The training of question generation, as arguments of `model.compile`."""

from typing import Any

import keras

from tfmrc.losses import SequenceMean, SequenceNLL
from tfmrc.training.masque import output_names
from tfmrc.training.optimizers.loss_scale import LossScale
from tfmrc.training.optimizers.sgd import SGD
from tfmrc.training.schedules.halving import Halving


def maxout_pointer_qg(
    steps_per_epoch: int,
    learning_rate: float = 0.1,
    momentum: float = 0.9,
    first_halving: int = 8,
    halving_every: int = 2,
    clip_norm: float | None = None,
    *,
    coverage_weight: float = 1.0,
    model: keras.Model | None = None,
) -> dict[str, Any]:
    """The training of `MaxoutPointerQG`, as arguments of `model.compile`: replace any of them.

    SGD with Nesterov's momentum; the learning rate is halved from an epoch on every few epochs.
    With the sample weights of `tfmrc.preprocessing.MaxoutPointerQGPreprocessor` the loss is the mean over all words of
    a batch, and its exponential the perplexity. The paper trains 20 epochs with batches of 64 and
    takes, of the 4 epochs of lowest perplexity on dev, the last one:
    `training.callbacks(folder, averages=False, among=4)`.

    Args:
        steps_per_epoch: updates of an epoch.
        learning_rate: of the first epochs.
        momentum: 0.9, where the paper is silent.
        first_halving: the first epoch of half the rate, counted from 1.
        halving_every: epochs from one halving to the next.
        clip_norm: largest norm of the gradient; None (the paper tells of none) for no clipping.
        coverage_weight: weight of the coverage loss, where the model has its output.
        model: the model to be compiled: tells whether there is coverage, and whether float16 is
            computed with, for which the loss is scaled.

    Returns:
        `{"optimizer": ..., "loss": {part: ...}, "loss_weights": {part: ...}}`.

    Example:

    >>> from tfmrc import training
    >>> arguments = training.maxout_pointer_qg(steps_per_epoch=100)
    >>> sorted(arguments["loss"]), arguments["optimizer"].nesterov
    (['decoder'], True)

    Reference: Zhao et al. 2018, section 3.2; See et al. 2017, section 2.3 (coverage).
    """
    parts = ("decoder",) if model is None else output_names(model)
    losses = {"decoder": SequenceNLL, "coverage": SequenceMean}
    weights = {"decoder": 1.0, "coverage": coverage_weight}
    schedule = Halving(learning_rate, steps_per_epoch, first_halving, halving_every)
    optimizer: keras.optimizers.Optimizer = SGD(schedule, momentum, clip_norm=clip_norm)
    policy = keras.config.dtype_policy() if model is None else model.dtype_policy
    if policy.compute_dtype == "float16":
        optimizer = LossScale(optimizer)
    return {
        "optimizer": optimizer,
        "loss": {part: losses[part]() for part in parts},
        "loss_weights": {part: weights[part] for part in parts},
    }
