"""What a paper's training is made of, as arguments of `model.compile`."""

from collections.abc import Callable, Sequence
from typing import Any

import keras

from tfmrc.losses import SequenceNLL, SmoothedBinaryCrossentropy
from tfmrc.training.optimizers.adamw import AdamW
from tfmrc.training.optimizers.loss_scale import LossScale
from tfmrc.training.schedules.warmup_cosine import WarmupCosine

PARTS = ("decoder", "ranker", "classifier")


def masque(
    steps: int,
    learning_rate: float = 2.5e-4,
    warmup_steps: int = 2000,
    weight_decay: float | None = 0.01,
    ema: float = 0.9995,
    clip_norm: float | None = 1.0,
    *,
    ranker_weight: float = 0.5,
    classifier_weight: float = 0.1,
    positive_label: float = 0.9,
    model: keras.Model | None = None,
    parts: Sequence[str] = PARTS,
) -> dict[str, Any]:
    """The training of Masque, as arguments of `model.compile`: plain Keras objects, replace any.

    The loss is `L_dec + 0.5 L_rank + 0.1 L_cls` (masque-22), each normalised over the global
    batch by the sample weights that `tfmrc.preprocessing.MasquePreprocessor` makes. Padding counts in none of
    them.

    Args:
        steps: updates of the whole training; the learning rate is 0 at its end.
        learning_rate: the highest learning rate.
        warmup_steps: updates until it is reached.
        weight_decay: decoupled decay of all weights but biases and normalisation.
        ema: decay of the moving average of the weights; 0 for none.
        clip_norm: largest norm of the gradient; None for no clipping.
        ranker_weight: weight of the ranker's loss.
        classifier_weight: weight of the classifier's loss.
        positive_label: what a label of 1 becomes in both.
        model: the model to be compiled: the parts that it lacks are left out. It also tells
            whether float16 is computed with, for which the loss is scaled.
        parts: the parts to train, where no model is given.

    Returns:
        `{"optimizer": ..., "loss": {part: ...}, "loss_weights": {part: ...}}`.

    Raises:
        ValueError: a part is unknown, or there is none; `steps` is not above `warmup_steps`.

    Example:

    >>> from tfmrc import training
    >>> arguments = training.masque(steps=80_000)
    >>> arguments["loss_weights"]
    {'decoder': 1.0, 'ranker': 0.5, 'classifier': 0.1}
    >>> sorted(training.masque(steps=80_000, parts=["ranker"])["loss"])
    ['ranker']

    Reference: Nishida et al. 2019, section 3.5 and appendix A; masque-22 to masque-25.
    """
    names = output_names(model) if model is not None else tuple(parts)
    unknown = [name for name in names if name not in PARTS]
    if unknown or not names:
        raise ValueError(f"The parts of Masque are {PARTS}. Received: parts={names}")
    losses = {
        "decoder": SequenceNLL,
        "ranker": lambda: SmoothedBinaryCrossentropy(positive_label),
        "classifier": lambda: SmoothedBinaryCrossentropy(positive_label),
    }
    weights = {"decoder": 1.0, "ranker": ranker_weight, "classifier": classifier_weight}
    optimizer: keras.optimizers.Optimizer = AdamW(
        WarmupCosine(learning_rate, warmup_steps, steps),
        weight_decay=weight_decay,
        clip_norm=clip_norm,
        use_ema=ema > 0,
        ema_momentum=ema,
    )
    policy = keras.config.dtype_policy() if model is None else model.dtype_policy
    if policy.compute_dtype == "float16":
        optimizer = LossScale(optimizer)
    return {
        "optimizer": optimizer,
        "loss": {name: losses[name]() for name in PARTS if name in names},
        "loss_weights": {name: weights[name] for name in PARTS if name in names},
    }


def only_outputs(model: keras.Model) -> Callable[[Any, Any, Any], Any]:
    """For `dataset.map`: labels and weights of the outputs that a model has, and no others."""
    names = output_names(model)

    def choose(x: Any, y: Any, sample_weight: Any) -> Any:
        return x, {name: y[name] for name in names}, {name: sample_weight[name] for name in names}

    return choose


def output_names(model: keras.Model) -> tuple[str, ...]:
    """Names of the parts of a model that returns a dict.

    Raises:
        ValueError: the model does not return a dict.

    Example:

    >>> import keras
    >>> from tfmrc.training.masque import output_names
    >>> inputs = keras.Input((3,))
    >>> outputs = {"ranker": keras.layers.Dense(2)(inputs)}
    >>> output_names(keras.Model(inputs, outputs))
    ('ranker',)
    """
    outputs = getattr(model, "_outputs_struct", None)
    if not isinstance(outputs, dict):
        raise ValueError(
            "`model` must be a functional model that returns a dict of its parts. "
            f"Received: model={model}"
        )
    return tuple(outputs)
