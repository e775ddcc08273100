"""Training settings of all papers: the registry, the arguments of `compile`, and float16."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import keras

from tfmrc.encoders import learning_rate_multipliers
from tfmrc.training.optimizers.adamw import AdamW
from tfmrc.training.optimizers.loss_scale import LossScale
from tfmrc.training.schedules.warmup_cosine import warmup_cosine
from tfmrc.utils import keras_private
from tfmrc.utils.arguments import check_arguments

if TYPE_CHECKING:
    from tfmrc.encoders import Encoder  # which imports TensorFlow

_FUNCTIONS: dict[type, Callable[..., dict[str, Any]]] = {}

TrainingFunction = TypeVar("TrainingFunction", bound=Callable[..., dict[str, Any]])


def register_training(model_class: type) -> Callable[[TrainingFunction], TrainingFunction]:
    """Registers a function as the training settings of a model class and its subclasses.

    The function takes keyword arguments only, `model`, `steps` and `steps_per_epoch` among them,
    and returns the arguments of `model.compile`. Registering a second function for the same class
    replaces the first.

    Args:
        model_class: A subclass of `keras.Model`.

    Returns:
        A decorator that returns the function unchanged.

    Example:

    >>> import keras
    >>> from tfmrc import training
    >>> class Tagger(keras.Model):
    ...     pass
    >>> @training.register_training(Tagger)
    ... def tagger(*, model=None, steps, steps_per_epoch=None, learning_rate=0.1):
    ...     return {"optimizer": keras.optimizers.SGD(learning_rate), "loss": "mse"}
    >>> training.compile_arguments(Tagger(), steps=10)["loss"]
    'mse'
    """

    def register(function: TrainingFunction) -> TrainingFunction:
        _FUNCTIONS[model_class] = function
        return function

    return register


def training_function(model_class: type) -> Callable[..., dict[str, Any]]:
    """Returns the function registered for a model class or for its nearest parent.

    Args:
        model_class: class. A model class.

    Raises:
        ValueError: If no function is registered for the class or a parent.

    Example:

    >>> from tfmrc import models, training
    >>> class MySAN(models.SAN):
    ...     pass
    >>> from tfmrc.training.base import training_function
    >>> training_function(MySAN) is training.san
    True
    """
    for parent in model_class.__mro__:
        if parent in _FUNCTIONS:
            return _FUNCTIONS[parent]
    known = ", ".join(sorted(known.__name__ for known in _FUNCTIONS))
    raise ValueError(
        f"No training is registered for {model_class.__name__} or a parent of it; decorate a "
        f"function with `tfmrc.training.register_training`. Known: {known}. "
        f"Received: model_class={model_class}"
    )


def compile_arguments(
    model: keras.Model, *, steps: int, steps_per_epoch: int | None = None, **options: Any
) -> dict[str, Any]:
    """Returns the arguments of `model.compile` of the model's paper.

    Args:
        model: `keras.Model`. A model of tfmrc, or of a class with a registered training function.
        steps: int. Steps of the whole training.
        steps_per_epoch: int. Steps per epoch, for schedules that count epochs. None takes the
            paper's number of epochs. Default: None.
        **options: Further options of the paper's function, such as `learning_rate`.

    Returns:
        A dict with `optimizer`, `loss` and `loss_weights`: plain Keras objects, each replaceable.

    Raises:
        ValueError: If no function is registered for the model.
        TypeError: If the function has no such option; the message names the nearest one.

    Example:

    >>> import keras
    >>> from tfmrc import models, training
    >>> model = models.SAN(vocabulary_size=50, num_exact_match=0, num_pos=0, num_ner=0)
    >>> arguments = training.compile_arguments(model, steps=1000, learning_rate=0.01)
    >>> round(float(arguments["optimizer"].learning_rate), 3)
    0.01
    >>> training.compile_arguments(model, steps=1000, learning_rat=0.01)
    Traceback (most recent call last):
    ...
    TypeError: The training of SAN has no argument `learning_rat`; did you mean `learning_rate`? \
Received: learning_rat=0.01
    """
    function = training_function(type(model))
    check_arguments(function, options, f"The training of {type(model).__name__}")
    return function(model=model, steps=steps, steps_per_epoch=steps_per_epoch, **options)


def arguments_of(
    model: keras.Model | None,
    optimizer: keras.optimizers.Optimizer,
    losses: Mapping[str, keras.losses.Loss],
    weights: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Returns the arguments of `compile` for the outputs of a model.

    Losses of outputs that the model lacks are left out. If the model, or one of its layers,
    computes in float16, the optimizer scales the loss.

    Args:
        model: `keras.Model` or None. The model, which returns a dict. None selects every loss and
            uses the global dtype policy.
        optimizer: `keras.optimizers.Optimizer`. The optimizer.
        losses: dict. Losses by output name, for every output that a model of this paper can have.
        weights: dict or None. Loss weights by output name. Default: 1 for each.

    Returns:
        A dict with `optimizer`, `loss` and `loss_weights`.

    Raises:
        ValueError: If the model has an output without a loss, or trains weights in float16.

    Example:

    >>> import keras
    >>> from tfmrc.training.base import arguments_of
    >>> inputs = keras.Input((3,))
    >>> model = keras.Model(inputs, {"ranker": keras.layers.Dense(2)(inputs)})
    >>> losses = {"ranker": keras.losses.MeanSquaredError(), "decoder": keras.losses.Poisson()}
    >>> list(arguments_of(model, keras.optimizers.SGD(), losses)["loss"])
    ['ranker']
    """
    names = tuple(losses if model is None else model.output)
    unknown = [name for name in names if name not in losses]
    if unknown:
        raise ValueError(
            f"The training function has losses for {', '.join(losses)} only. "
            f"Received: outputs={names}"
        )
    selected = [name for name in losses if name in names]
    return {
        "optimizer": with_loss_scale(optimizer, model),
        "loss": {name: losses[name] for name in selected},
        "loss_weights": {name: 1.0 if weights is None else weights[name] for name in selected},
    }


def with_loss_scale(
    optimizer: keras.optimizers.Optimizer, model: keras.Model | None
) -> keras.optimizers.Optimizer:
    """Returns the optimizer, with loss scaling if the model or one of its layers needs it.

    Args:
        optimizer: `keras.optimizers.Optimizer`. The optimizer.
        model: `keras.Model` or None. The model; None for the global dtype policy.

    Raises:
        ValueError: If weights are trained in float16 or bfloat16.
    """
    # With a `DTypePolicyMap` a layer within a layer may have a policy of its own.
    parts = [keras.config.dtype_policy()] if model is None else keras_private.all_sublayers(model)
    trained = [part for part in parts if getattr(part, "trainable_variables", True)]
    half = sorted({"float16", "bfloat16"} & {part.variable_dtype for part in trained})
    if half:  # in bfloat16 Adam's decay of 0.999 is 1, and its second moment stays 0
        raise ValueError(
            f"Weights in {half[0]} cannot be trained: updates need a higher precision. "
            f"Use dtype='mixed_{half[0]}'. Received: dtype={half[0]!r}"
        )
    in_float16 = any(part.compute_dtype == "float16" for part in parts)
    return LossScale(optimizer) if in_float16 else optimizer


def averaging(ema: float, gradient_accumulation_steps: int | None) -> dict[str, Any]:
    """Returns the arguments of an optimizer for the average of the weights and of the gradients.

    Args:
        ema: float. Decay of the moving average of the weights; 0 for none.
        gradient_accumulation_steps: int or None. Number of batches per update; None or 1 for one.
    """
    accumulated = gradient_accumulation_steps if gradient_accumulation_steps != 1 else None
    return {
        "use_ema": ema > 0,
        "ema_momentum": ema or 0.99,
        "gradient_accumulation_steps": accumulated,
    }


def fine_tuning_optimizer(
    encoder: "Encoder | keras.layers.Layer",
    steps: int,
    learning_rate: float = 0.001,
    encoder_learning_rate: float = 1e-4,
    layer_decay: float = 1.0,
    warmup_share: float = 0.1,
    weight_decay: float | None = 0.01,
    clip_norm: float | None = 1.0,
    ema: float = 0.0,
    schedule: bool = True,
    gradient_accumulation_steps: int | None = None,
    *,
    warmup_steps: int | None = None,
) -> AdamW:
    """Returns the optimizer of a model with a pretrained encoder, the same for every paper.

    AdamW with decoupled weight decay and gradients clipped by their common norm. The learning
    rates rise linearly from 0 and fall to 0 along a cosine. The encoder has a separate rate, which
    decreases from each of its layers to the one below.

    Args:
        encoder: `Encoder` or layer. The encoder in the model.
        steps: int. Steps of the whole training; the rates are 0 at its end.
        learning_rate: float. The highest rate of all weights outside the encoder. Default: 0.001.
        encoder_learning_rate: float. The highest rate of the encoder's top layer. Default: 1e-4.
        layer_decay: float. Factor of the rate from each layer of the encoder to the one below.
            Default: 1.
        warmup_share: float. Share of the steps in which the rates rise. Default: 0.1.
        weight_decay: float. Decay of all weights except biases and normalisation; None for no
            decay. Default: 0.01.
        clip_norm: float. Largest norm of the gradient; None for no clipping. Default: 1.
        ema: float. Decay of the exponential moving average of the weights; 0 for none. Default: 0.
        schedule: bool. Whether the rates rise and fall; if not, they are constant. Default: True.
        gradient_accumulation_steps: int or None. Number of batches per update. Default: None, one.
        warmup_steps: int or None. Steps in which the rates rise. Default: None, the share above.

    Example:

    >>> from tfmrc.encoders import BackboneEncoder
    >>> from tfmrc.training.base import fine_tuning_optimizer
    >>> sizes = {"vocabulary_size": 9, "num_layers": 1, "num_heads": 1, "hidden_dim": 2,
    ...     "intermediate_dim": 2}
    >>> optimizer = fine_tuning_optimizer(BackboneEncoder("bert", sizes), steps=1000)
    >>> optimizer.get_config()["learning_rate"]["config"]["warmup_steps"]
    100
    >>> optimizer.learning_rate_multipliers["(^|/)encoder/"]
    0.1
    """
    rise = round(warmup_share * steps) if warmup_steps is None else warmup_steps
    return AdamW(
        warmup_cosine(learning_rate, rise, steps) if schedule else learning_rate,
        weight_decay=weight_decay,
        clip_norm=clip_norm,
        learning_rate_multipliers=learning_rate_multipliers(
            encoder, encoder_learning_rate / learning_rate, layer_decay
        ),
        **averaging(ema, gradient_accumulation_steps),
    )


def epoch_length(steps: int, steps_per_epoch: int | None, epochs: int) -> int:
    """Returns the updates per epoch of a schedule that counts epochs.

    Args:
        steps: int. Updates of the whole training.
        steps_per_epoch: int or None. The number itself; None divides `steps` into `epochs` parts.
        epochs: int. The paper's number of epochs.

    Example:

    >>> from tfmrc.training.base import epoch_length
    >>> epoch_length(2000, None, 20), epoch_length(2000, 300, 20)
    (100, 300)
    """
    return max(1, steps // epochs) if steps_per_epoch is None else steps_per_epoch


def only_outputs(model: keras.Model) -> Callable[[Any, Any, Any], Any]:
    """Returns a function for `dataset.map` that selects labels and weights of a model's outputs.

    Args:
        model: A functional model that returns a dict.

    Example:

    >>> import keras
    >>> from tfmrc.training.base import only_outputs
    >>> inputs = keras.Input((3,))
    >>> select = only_outputs(keras.Model(inputs, {"ranker": keras.layers.Dense(2)(inputs)}))
    >>> select("x", {"ranker": 1, "decoder": 2}, {"ranker": 3, "decoder": 4})
    ('x', {'ranker': 1}, {'ranker': 3})
    """
    names = tuple(model.output)

    def select(x: Any, y: Any, sample_weight: Any) -> Any:
        return x, {name: y[name] for name in names}, {name: sample_weight[name] for name in names}

    return select
