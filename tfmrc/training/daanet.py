"""Training settings of the dual ask-answer network, as arguments of `model.compile`."""

from typing import Any

import keras

from tfmrc.losses import SequenceMean, SequenceNLL
from tfmrc.models import DAANet
from tfmrc.training.base import arguments_of, averaging, fine_tuning_optimizer, register_training
from tfmrc.training.optimizers.adamw import AdamW
from tfmrc.training.schedules.log_warmup import LogWarmup


@register_training(DAANet)
def daanet(
    *,
    model: keras.Model | None = None,
    steps: int,
    steps_per_epoch: int | None = None,
    learning_rate: float = 0.001,
    schedule: bool = True,
    warmup_steps: int = 1000,
    clip_norm: float | None = 5.0,
    coverage_weight: float = 1.0,
    ema: float = 0.0,
    gradient_accumulation_steps: int | None = None,
    encoder_learning_rate: float = 1e-4,
    layer_decay: float = 1.0,
    warmup_share: float = 0.1,
    weight_decay: float = 0.01,
) -> dict[str, Any]:
    """Returns the training settings of `DAANet` as arguments of `model.compile`.

    The loss is the negative log likelihood of both tasks (daanet-15) and `coverage_weight` times
    the coverage loss of both (daanet-16). The coverage loss is added because it is a penalty; the
    paper subtracts it from the likelihood inside a sum that is negated, which is the same. With
    the sample weights of `tfmrc.preprocessing.DAANetPreprocessor` all are sums over words and
    means over examples, as printed. Adam without weight decay; batches of 16.

    A model with a pretrained encoder is trained by AdamW with its rates instead, as encoders are
    fine-tuned (`tfmrc.training.base.fine_tuning_optimizer`). The paper has no such model.

    Args:
        model: `keras.Model` or None. The model. Losses of a task that it lacks are left out, and
            the loss is scaled if it computes in float16. None keeps both tasks. Default: None.
        steps: int. Steps of the whole training. It has no effect without an encoder, because the
            rate is then constant after its rise.
        steps_per_epoch: int. Not used by this schedule.
        learning_rate: float. The rate after its rise; with an encoder, the highest rate of all
            other weights. Default: 0.001.
        schedule: bool. Whether the rate follows its schedule; if not, it is a number that callbacks
            such as `keras.callbacks.ReduceLROnPlateau` can change. Default: True.
        warmup_steps: int. Steps of the rise; 0 or 1 for none; not used with an encoder.
            Default: 1000.
        clip_norm: float. Largest norm of the gradient; None for no clipping. Default: 5.
        coverage_weight: float. The paper's kappa. Default: 1.
        ema: float. Decay of an exponential moving average of the weights. Default: 0, none, as in
            the paper.
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
    >>> arguments = training.daanet(steps=1000, coverage_weight=0.5)
    >>> sorted(arguments["loss_weights"].items())
    [('answer', 1.0), ('answer_coverage', 0.5), ('ask', 1.0), ('ask_coverage', 0.5)]

    Reference: Xiao et al. 2018, "Loss Function" and "Implementation Details".
    """
    losses: dict[str, keras.losses.Loss] = {}
    weights = {}
    for task in ("answer", "ask"):
        losses[task], weights[task] = SequenceNLL(), 1.0
        losses[f"{task}_coverage"] = SequenceMean()
        weights[f"{task}_coverage"] = coverage_weight
    encoder = getattr(model, "encoder", None)
    if encoder is not None:
        optimizer = fine_tuning_optimizer(
            encoder, steps, learning_rate, encoder_learning_rate, layer_decay, warmup_share,
            weight_decay, clip_norm, ema, schedule, gradient_accumulation_steps,
        )  # fmt: skip
        return arguments_of(model, optimizer, losses, weights)
    optimizer = AdamW(
        LogWarmup(learning_rate, warmup_steps) if schedule else learning_rate,
        weight_decay=None,
        clip_norm=clip_norm,
        **averaging(ema, gradient_accumulation_steps),
    )
    return arguments_of(model, optimizer, losses, weights)
