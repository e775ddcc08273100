"""Training settings of the dual ask-answer network, as arguments of `model.compile`."""

from typing import Any

import keras

from tfmrc.losses import SequenceMean, SequenceNLL
from tfmrc.models import DAANet
from tfmrc.training.base import arguments_of, register_training
from tfmrc.training.optimizers.adamw import AdamW
from tfmrc.training.schedules.log_warmup import LogWarmup


@register_training(DAANet)
def daanet(
    *,
    model: keras.Model | None = None,
    steps: int,
    steps_per_epoch: int | None = None,
    learning_rate: float = 0.001,
    warmup_steps: int = 1000,
    clip_norm: float | None = 5.0,
    coverage_weight: float = 1.0,
    ema: float = 0.0,
) -> dict[str, Any]:
    """Training settings of `DAANet`, as arguments of `model.compile`: plain Keras objects.

    The loss is the negative log likelihood of both tasks (daanet-15) and `coverage_weight` times
    the coverage loss of both (daanet-16). The coverage loss is added because it is a penalty; the
    paper subtracts it from the likelihood inside a sum that is negated, which is the same. With
    the sample weights of `tfmrc.preprocessing.DAANetPreprocessor` all are sums over words and
    means over examples, as printed. Adam without weight decay; batches of 16.

    Args:
        model: The model to be compiled. Losses of a task that it lacks are left out, and the loss
            is scaled if it computes in float16. None keeps both tasks.
        steps: int. Updates of the whole training. Not used: the rate is constant after its rise.
        steps_per_epoch: int. Not used by this schedule.
        learning_rate: float. The rate after its rise. Default: 0.001.
        warmup_steps: int. Updates of the rise; 0 or 1 for none. Default: 1000.
        clip_norm: float. Largest norm of the gradient; None for no clipping. Default: 5.
        coverage_weight: float. The paper's kappa. Default: 1.
        ema: float. Decay of an exponential moving average of the weights. Default: 0, none, as in
            the paper.

    Returns:
        `{"optimizer": ..., "loss": {part: ...}, "loss_weights": {part: ...}}`.

    Example:

    >>> from tfmrc import training
    >>> arguments = training.daanet(steps=1000, coverage_weight=0.5)
    >>> sorted(arguments["loss_weights"].items())
    [('answer', 1.0), ('answer_coverage', 0.5), ('ask', 1.0), ('ask_coverage', 0.5)]

    Reference: Xiao et al. 2018, "Loss Function" and "Implementation Details".
    """
    optimizer = AdamW(
        LogWarmup(learning_rate, warmup_steps),
        weight_decay=None,
        clip_norm=clip_norm,
        use_ema=ema > 0,
        ema_momentum=ema or 0.99,
    )
    losses: dict[str, keras.losses.Loss] = {}
    weights = {}
    for task in ("answer", "ask"):
        losses[task], weights[task] = SequenceNLL(), 1.0
        losses[f"{task}_coverage"] = SequenceMean()
        weights[f"{task}_coverage"] = coverage_weight
    return arguments_of(model, optimizer, losses, weights)
