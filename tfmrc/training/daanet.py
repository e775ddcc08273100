"""The training of the dual ask-answer network, as arguments of `model.compile`."""

from typing import Any

import keras

from tfmrc.losses import SequenceMean, SequenceNLL
from tfmrc.training.masque import output_names
from tfmrc.training.optimizers.adamw import AdamW
from tfmrc.training.optimizers.loss_scale import LossScale
from tfmrc.training.schedules.log_warmup import LogWarmup

TASKS = ("answer", "ask")


def daanet(
    learning_rate: float = 0.001,
    warmup_steps: int = 1000,
    clip_norm: float | None = 5.0,
    *,
    coverage_weight: float = 1.0,
    ema: float = 0.0,
    model: keras.Model | None = None,
) -> dict[str, Any]:
    """The training of `DAANet`, as arguments of `model.compile`: replace any of them.

    The loss is the negative log likelihood of both tasks (daanet-15) and `coverage_weight` times
    the coverage loss of both (daanet-16). The coverage loss is added, being a penalty; the print
    takes it off the likelihood inside a sum that is negated, which is the same. With the sample
    weights of `tfmrc.preprocessing.DAANetPreprocessor` all are sums over words and means over examples, as
    printed. Adam without weight decay; batches of 16.

    Args:
        learning_rate: after the rise.
        warmup_steps: updates of the rise.
        clip_norm: largest norm of the gradient; None for no clipping.
        coverage_weight: the paper's kappa.
        ema: decay of a moving average of the weights; 0 (the paper) for none.
        model: the model to be compiled: tells which tasks it has, and whether float16 is computed
            with, for which the loss is scaled.

    Returns:
        `{"optimizer": ..., "loss": {part: ...}, "loss_weights": {part: ...}}`.

    Example:

    >>> from tfmrc import training
    >>> arguments = training.daanet(coverage_weight=0.5)
    >>> sorted(arguments["loss_weights"].items())
    [('answer', 1.0), ('answer_coverage', 0.5), ('ask', 1.0), ('ask_coverage', 0.5)]

    Reference: Xiao et al. 2018, "Loss Function" and "Implementation Details".
    """
    tasks = [task for task in TASKS if model is None or task in output_names(model)]
    optimizer: keras.optimizers.Optimizer = AdamW(
        LogWarmup(learning_rate, warmup_steps),
        weight_decay=None,
        clip_norm=clip_norm,
        use_ema=ema > 0,
        ema_momentum=ema or 0.99,
    )
    policy = keras.config.dtype_policy() if model is None else model.dtype_policy
    if policy.compute_dtype == "float16":
        optimizer = LossScale(optimizer)
    losses: dict[str, keras.losses.Loss] = {}
    weights = {}
    for task in tasks:
        losses[task], weights[task] = SequenceNLL(), 1.0
        losses[f"{task}_coverage"] = SequenceMean()
        weights[f"{task}_coverage"] = coverage_weight
    return {"optimizer": optimizer, "loss": losses, "loss_weights": weights}
