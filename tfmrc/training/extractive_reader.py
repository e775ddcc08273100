"""Training settings of extractive readers, as arguments of `model.compile`."""

from typing import Any

import keras

from tfmrc.losses import SmoothedBinaryCrossentropy, SpanPositionNLL
from tfmrc.models import ExtractiveReader
from tfmrc.training.base import arguments_of, fine_tuning_optimizer, register_training


@register_training(ExtractiveReader)
def extractive_reader(
    *,
    model: keras.Model,
    steps: int,
    steps_per_epoch: int | None = None,
    learning_rate: float = 0.001,
    schedule: bool = True,
    ema: float = 0.0,
    gradient_accumulation_steps: int | None = None,
    encoder_learning_rate: float = 1e-4,
    layer_decay: float = 1.0,
    warmup_share: float = 0.1,
    weight_decay: float = 0.01,
    clip_norm: float = 1.0,
) -> dict[str, Any]:
    """Returns the training settings of a reader as arguments of `model.compile`.

    The optimizer is AdamW; the rate rises linearly and falls to 0 along a cosine, the encoder has a
    separate rate, and gradients are clipped. The loss of an extractive reader is
    `-log P_begin - log P_end`, that of an evidence reader the binary cross-entropy of each subword.

    Args:
        model: `keras.Model`. The model, an `ExtractiveReader` or an `EvidenceReader`.
        steps: int. Steps of the whole training.
        steps_per_epoch: int. Not used. Default: None.
        learning_rate: float. The highest learning rate of the linear layer. Default: 0.001.
        schedule: bool. Whether the rate follows its schedule; if not, it is a number that callbacks
            such as `keras.callbacks.ReduceLROnPlateau` can change. Default: True.
        ema: float. Decay of an exponential moving average of the weights; 0 for none. Default: 0.
        gradient_accumulation_steps: int or None. Number of batches per update. Default: None, one.
        encoder_learning_rate: float. The highest rate of the encoder's top layer. Default: 1e-4.
        layer_decay: float. Factor of the rate from each layer of the encoder to the one below.
            Default: 1.
        warmup_share: float. Share of the steps in which the rate rises. Default: 0.1.
        weight_decay: float. Decoupled decay. Default: 0.01.
        clip_norm: float. Largest norm of the gradient. Default: 1.

    Returns:
        A dict with `optimizer`, `loss` and `loss_weights`, the last two by output of the model.

    Example:

    >>> from tfmrc import encoders, models, training
    >>> model = models.ExtractiveReader(encoder=encoders.from_vocabulary(["owl"]))
    >>> sorted(training.extractive_reader(model=model, steps=100)["loss"])
    ['begin', 'end']

    Reference: Devlin et al. 2019, section 4.2 and appendix A.3.
    """
    optimizer = fine_tuning_optimizer(
        getattr(model, "encoder", None), steps, learning_rate, encoder_learning_rate, layer_decay,
        warmup_share, weight_decay, clip_norm, ema, schedule, gradient_accumulation_steps,
    )  # fmt: skip
    losses = {"begin": SpanPositionNLL(), "end": SpanPositionNLL()}
    losses |= {"evidence": SmoothedBinaryCrossentropy(positive_label=1.0)}
    return arguments_of(model, optimizer, losses)
