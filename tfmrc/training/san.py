"""Training settings of SAN, as arguments of `model.compile`."""

from typing import Any

import keras

from tfmrc.losses import SpanPositionNLL
from tfmrc.models import SAN
from tfmrc.training.base import (
    arguments_of,
    averaging,
    epoch_length,
    fine_tuning_optimizer,
    register_training,
)
from tfmrc.training.optimizers.adamax import Adamax

EPOCHS = 50  # as in recipes/san_squad/paper_size.yaml; the paper prints no number


@register_training(SAN)
def san(
    *,
    model: keras.Model | None = None,
    steps: int,
    steps_per_epoch: int | None = None,
    learning_rate: float | None = None,
    schedule: bool = True,
    epochs_per_halving: float = 10,
    ema: float = 0.0,
    gradient_accumulation_steps: int | None = None,
    encoder_learning_rate: float = 1e-4,
    layer_decay: float = 1.0,
    warmup_share: float = 0.1,
    weight_decay: float = 0.01,
    clip_norm: float = 1.0,
) -> dict[str, Any]:
    """Returns the training settings of SAN as arguments of `model.compile`.

    The optimizer is Adamax; the learning rate is halved after every `epochs_per_halving` epochs.
    The loss is `-log P_begin - log P_end`, each normalised over the global batch by the sample
    weights of `tfmrc.preprocessing.SANPreprocessor`. The paper uses batches of 32 and a dropout of
    0.4. Gradients are not clipped; the paper mentions no clipping.

    A model with a pretrained encoder is trained with AdamW instead, as is common for fine-tuning:
    the rate rises linearly and falls to 0 along a cosine, the encoder has a separate rate, and
    gradients are clipped. The paper has no such model; the numbers are those of the recipe
    `san_squad/minilm`.

    Args:
        model: `keras.Model` or None. The model. The loss is scaled if it computes in float16.
            Default: None.
        steps: int. Steps of the whole training.
        steps_per_epoch: int. Steps per epoch. None takes `steps` as 50 epochs. Default: None.
        learning_rate: float. The first learning rate; with an encoder, the highest rate of all
            other weights. Default: 0.002; with an encoder 0.001.
        schedule: bool. Whether the rate follows its schedule; if not, it is a number that callbacks
            such as `keras.callbacks.ReduceLROnPlateau` can change. Default: True.
        epochs_per_halving: float. Epochs until it is halved; not used with an encoder. Default: 10.
        ema: float. Decay of an exponential moving average of the weights. Default: 0, none, as in
            the paper.
        gradient_accumulation_steps: int or None. Number of batches per update. Default: None, one.
        encoder_learning_rate: float. The highest rate of the encoder's top layer. Default: 1e-4.
        layer_decay: float. Factor of the rate from each layer of the encoder to the one below.
            Default: 1.
        warmup_share: float. Share of the steps in which the rate of a model with an encoder rises.
            Default: 0.1.
        weight_decay: float. Decoupled decay, with an encoder. Default: 0.01.
        clip_norm: float. Largest norm of the gradient, with an encoder. Default: 1.

    Returns:
        A dict with `optimizer`, `loss` and `loss_weights`, the last two by output of the model.

    Example:

    >>> from tfmrc import training
    >>> optimizer = training.san(steps=5000, steps_per_epoch=100)["optimizer"]
    >>> rate = optimizer.get_config()["learning_rate"]["config"]
    >>> rate["initial_learning_rate"], rate["decay_steps"], rate["decay_rate"]
    (0.002, 1000, 0.5)

    Reference: Liu et al. 2018 (SAN), section 3; Kingma and Ba 2015 (Adamax).
    """
    losses = {"begin": SpanPositionNLL(), "end": SpanPositionNLL()}
    encoder = getattr(model, "encoder", None)
    if learning_rate is None:
        learning_rate = 0.002 if encoder is None else 0.001
    if encoder is not None:
        optimizer = fine_tuning_optimizer(
            encoder, steps, learning_rate, encoder_learning_rate, layer_decay, warmup_share,
            weight_decay, clip_norm, ema, schedule, gradient_accumulation_steps,
        )  # fmt: skip
        return arguments_of(model, optimizer, losses)
    decay_steps = round(epoch_length(steps, steps_per_epoch, EPOCHS) * epochs_per_halving)
    halving = keras.optimizers.schedules.ExponentialDecay(
        learning_rate, decay_steps, 0.5, staircase=True
    )
    rate = halving if schedule else learning_rate
    optimizer = Adamax(rate, **averaging(ema, gradient_accumulation_steps))
    return arguments_of(model, optimizer, losses)
