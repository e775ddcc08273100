"""Training settings of Masque, as arguments of `model.compile`."""

from typing import Any

import keras

from tfmrc.losses import SequenceNLL, SmoothedBinaryCrossentropy
from tfmrc.models import Masque
from tfmrc.training.base import arguments_of, averaging, fine_tuning_optimizer, register_training
from tfmrc.training.optimizers.adamw import AdamW
from tfmrc.training.schedules.warmup_cosine import warmup_cosine


@register_training(Masque)
def masque(
    *,
    model: keras.Model | None = None,
    steps: int,
    steps_per_epoch: int | None = None,
    learning_rate: float | None = None,
    warmup_steps: int | None = None,
    schedule: bool = True,
    weight_decay: float | None = 0.01,
    ema: float = 0.0,
    clip_norm: float | None = 1.0,
    gradient_accumulation_steps: int | None = None,
    encoder_learning_rate: float = 1e-4,
    layer_decay: float = 1.0,
    ranker_weight: float = 0.5,
    classifier_weight: float = 0.1,
    positive_label: float = 0.9,
) -> dict[str, Any]:
    """Returns the training settings of Masque as arguments of `model.compile`.

    The loss is `L_dec + 0.5 L_rank + 0.1 L_cls` (masque-22), each normalised over the global
    batch by the sample weights that `tfmrc.preprocessing.MasquePreprocessor` makes. Padding counts
    in none of them. The learning rate rises linearly from 0 and falls to 0 along a cosine.

    A pretrained encoder in the model has a separate rate
    (`tfmrc.training.base.fine_tuning_optimizer`), and the defaults are those of a short training.
    The paper has no such model; the numbers are those of the recipe `masque_squad/minilm`.

    Args:
        model: `keras.Model` or None. The model. Losses of parts that it lacks are left out, and the
            loss is scaled if it computes in float16. None keeps all parts. Default: None.
        steps: int. Steps of the whole training; the learning rate is 0 at its end.
        steps_per_epoch: int. Not used by this schedule.
        learning_rate: float. The highest learning rate; with an encoder, that of all other
            weights. Default: 2.5e-4; with an encoder 0.001.
        warmup_steps: int. Steps until it is reached; 0 begins with it. Default: 2000, at most a
            tenth of `steps`; with an encoder a tenth of `steps`.
        schedule: bool. Whether the rate follows its schedule; if not, it is a number that callbacks
            such as `keras.callbacks.ReduceLROnPlateau` can change. Default: True.
        weight_decay: float. Decoupled decay of all weights except biases and normalisation;
            None for no decay. Default: 0.01.
        ema: float. Decay of the exponential moving average of the weights; 0 for none. The paper's
            0.9995 averages about 2,000 updates; `1 - 10 / steps` suits short trainings. Default: 0.
        clip_norm: float. Largest norm of the gradient; None for no clipping. Default: 1.
        gradient_accumulation_steps: int or None. Number of batches per update. Default: None, one.
        encoder_learning_rate: float. The highest rate of the encoder's top layer. Default: 1e-4.
        layer_decay: float. Factor of the rate from each layer of the encoder to the one below.
            Default: 1.
        ranker_weight: float. Weight of the ranker's loss. Default: 0.5.
        classifier_weight: float. Weight of the classifier's loss. Default: 0.1.
        positive_label: float. The smoothed value of a label of 1 in both. Default: 0.9.

    Returns:
        A dict with `optimizer`, `loss` and `loss_weights`, the last two by output of the model.

    Raises:
        ValueError: If the model has an unknown part, or `steps` is not above `warmup_steps`.

    Example:

    >>> from tfmrc import training
    >>> arguments = training.masque(steps=80_000)
    >>> arguments["loss_weights"]
    {'decoder': 1.0, 'ranker': 0.5, 'classifier': 0.1}

    Reference: Nishida et al. 2019, section 3.5 and appendix A; masque-22 to masque-25.
    """
    encoder = getattr(model, "encoder", None)
    if learning_rate is None:
        learning_rate = 2.5e-4 if encoder is None else 0.001
    if encoder is None:
        rise = min(2000, steps // 10) if warmup_steps is None else warmup_steps
        optimizer = AdamW(
            warmup_cosine(learning_rate, rise, steps) if schedule else learning_rate,
            weight_decay=weight_decay,
            clip_norm=clip_norm,
            **averaging(ema, gradient_accumulation_steps),
        )
    else:
        optimizer = fine_tuning_optimizer(
            encoder, steps, learning_rate, encoder_learning_rate, layer_decay, 0.1, weight_decay,
            clip_norm, ema, schedule, gradient_accumulation_steps, warmup_steps=warmup_steps,
        )  # fmt: skip
    losses = {
        "decoder": SequenceNLL(),
        "ranker": SmoothedBinaryCrossentropy(positive_label),
        "classifier": SmoothedBinaryCrossentropy(positive_label),
    }
    weights = {"decoder": 1.0, "ranker": ranker_weight, "classifier": classifier_weight}
    return arguments_of(model, optimizer, losses, weights)  # masque-22
