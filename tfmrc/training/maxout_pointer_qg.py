"""Training settings of question generation, as arguments of `model.compile`."""

from typing import Any

import keras

from tfmrc.losses import SequenceMean, SequenceNLL
from tfmrc.models import MaxoutPointerQG
from tfmrc.training.base import (
    arguments_of,
    averaging,
    epoch_length,
    fine_tuning_optimizer,
    register_training,
)
from tfmrc.training.optimizers.sgd import SGD

EPOCHS = 20  # of the paper


@register_training(MaxoutPointerQG)
def maxout_pointer_qg(
    *,
    model: keras.Model | None = None,
    steps: int,
    steps_per_epoch: int | None = None,
    learning_rate: float | None = None,
    schedule: bool = True,
    momentum: float = 0.9,
    first_halving: int = 8,
    halving_every: int = 2,
    clip_norm: float | None = None,
    coverage_weight: float = 1.0,
    gradient_accumulation_steps: int | None = None,
    encoder_learning_rate: float = 1e-4,
    layer_decay: float = 1.0,
    warmup_share: float = 0.1,
    weight_decay: float = 0.01,
) -> dict[str, Any]:
    """Returns the training settings of `MaxoutPointerQG` as arguments of `model.compile`.

    SGD with Nesterov's momentum; the learning rate is halved at the beginning of epoch
    `first_halving` and every `halving_every` epochs thereafter. With the sample weights of
    `tfmrc.preprocessing.MaxoutPointerQGPreprocessor` the loss is the mean over all words of a
    batch, and its exponential the perplexity of the batch. The paper trains 20 epochs with
    batches of 64 and takes, of the 4 epochs of lowest perplexity on dev, the last one:
    `training.callbacks(folder, ema_weights=False, among=4)`.

    A model with a pretrained encoder is trained by AdamW instead, as encoders are fine-tuned
    (`tfmrc.training.base.fine_tuning_optimizer`). The paper has no such model.

    Args:
        model: `keras.Model` or None. The model. The coverage loss is left out if it has no such
            output, and the loss is scaled if it computes in float16. Default: None.
        steps: int. Steps of the whole training; the rate is not halved after it.
        steps_per_epoch: int. Steps per epoch. None takes `steps` as the paper's 20 epochs.
        learning_rate: float. The rate of the first epochs; with an encoder, the highest rate of
            all other weights. Default: 0.1; with an encoder 0.001.
        schedule: bool. Whether the rate follows its schedule; if not, it is a number that callbacks
            such as `keras.callbacks.ReduceLROnPlateau` can change. Default: True.
        momentum: float. Default: 0.9; the paper does not give the number. This and the halvings
            are not used with an encoder.
        first_halving: int. The first epoch of half the rate, counted from 1. Default: 8.
        halving_every: int. Epochs from one halving to the next. Default: 2.
        clip_norm: float. Largest norm of the gradient. Default: no clipping, the paper mentions
            none; with an encoder 1.
        coverage_weight: float. Weight of the coverage loss. Default: 1.
        gradient_accumulation_steps: int or None. Number of batches per update. Default: None, one.
        encoder_learning_rate: float. The highest rate of the encoder's top layer. Default: 1e-4.
        layer_decay: float. Factor of the rate from each layer of the encoder to the one below.
            Default: 1.
        warmup_share: float. Share of the steps in which the rates of a model with an encoder rise.
            Default: 0.1.
        weight_decay: float. Decoupled decay, with an encoder. Default: 0.01.

    Returns:
        A dict with `optimizer`, `loss` and `loss_weights`, the last two by output of the model.

    Example:

    >>> from tfmrc import training
    >>> arguments = training.maxout_pointer_qg(steps=2000, steps_per_epoch=100)
    >>> sorted(arguments["loss"]), arguments["optimizer"].nesterov
    (['coverage', 'decoder'], True)

    Reference: Zhao et al. 2018, section 3.2; See et al. 2017, section 2.3 (coverage).
    """
    losses = {"decoder": SequenceNLL(), "coverage": SequenceMean()}
    weights = {"decoder": 1.0, "coverage": coverage_weight}
    encoder = getattr(model, "encoder", None)
    if learning_rate is None:
        learning_rate = 0.1 if encoder is None else 0.001
    if encoder is not None:
        fine_tuning = fine_tuning_optimizer(
            encoder, steps, learning_rate, encoder_learning_rate, layer_decay, warmup_share,
            weight_decay, 1.0 if clip_norm is None else clip_norm, 0.0, schedule,
            gradient_accumulation_steps,
        )  # fmt: skip
        return arguments_of(model, fine_tuning, losses, weights)
    length = epoch_length(steps, steps_per_epoch, EPOCHS)
    halving = halvings(learning_rate, steps, length, first_halving, halving_every)
    averages = averaging(0.0, gradient_accumulation_steps)
    rate = halving if schedule else learning_rate
    optimizer = SGD(rate, momentum, clip_norm=clip_norm, **averages)
    return arguments_of(model, optimizer, losses, weights)


def halvings(
    learning_rate: float, steps: int, steps_per_epoch: int, first_epoch: int = 8, every: int = 2
) -> keras.optimizers.schedules.PiecewiseConstantDecay:
    """Returns Keras' piecewise constant schedule that halves a rate at the start of epochs.

    Args:
        learning_rate: float. The rate of the first epochs.
        steps: int. Updates of the whole training; the rate is not halved after it.
        steps_per_epoch: int. Updates per epoch.
        first_epoch: int. The first epoch of half the rate, counted from 1. Default: 8.
        every: int. Epochs from one halving to the next. Default: 2.

    Example:

    >>> from tfmrc.training.maxout_pointer_qg import halvings
    >>> rate = halvings(0.1, steps=60, steps_per_epoch=10, first_epoch=3, every=2)
    >>> [round(float(rate(10 * epoch)), 4) for epoch in range(6)]
    [0.1, 0.1, 0.05, 0.05, 0.025, 0.025]
    """
    first = steps_per_epoch * (first_epoch - 1)
    starts = [first, *range(first + steps_per_epoch * every, steps, steps_per_epoch * every)]
    # Keras' boundary is the last step of the higher rate.
    return keras.optimizers.schedules.PiecewiseConstantDecay(
        [start - 1 for start in starts],
        [float(learning_rate) * 0.5**count for count in range(len(starts) + 1)],
    )
