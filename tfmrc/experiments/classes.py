"""The classes of a model's paper, found by name, and the settings checked against them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfmrc.experiments.settings import Experiment
from tfmrc.utils.arguments import (
    check_arguments,
    nearest,
    parameters_of,
    suggestion,
    unknown_argument,
)

if TYPE_CHECKING:
    import keras

    from tfmrc.predictors.base import Predictor
    from tfmrc.preprocessing.base import Preprocessor

RESERVED = ("name", "preset")  # settings of `model` that are not arguments
TAGS = ("lemmas", "pos_tags", "ner_tags")  # arguments of a preprocessor
KERAS = ("dtype", "trainable")  # arguments that every Keras model takes


@dataclass(frozen=True)
class Classes:
    """The model, preprocessor and predictor classes of a paper, or a user's own."""

    model: "type[keras.Model]"
    preprocessor: "type[Preprocessor]"
    predictor: "type[Predictor[Any]]"
    optimizer: "type[keras.Model]"  # the model class whose optimizer is used

    @property
    def only_asks(self) -> bool:
        """True if the model asks questions and answers none."""
        return bool(self.predictor.only_asks)

    @property
    def read_tags(self) -> bool:
        """True if the preprocessor has annotations, or an argument of tags."""
        parameters = parameters_of(self.preprocessor)
        return bool(self.preprocessor.annotations) or any(name in parameters for name in TAGS)

    def tag_arguments(self, tags: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments of tags that the preprocessor takes."""
        parameters = parameters_of(self.preprocessor)
        return {name: value for name, value in tags.items() if name in parameters}


def find_model_class(name: str) -> "type[keras.Model]":
    """Returns a registered model class by its name, with or without its package.

    Raises:
        ValueError: If there is none; the message names the nearest one.

    Example:

    >>> find_model_class("SAN").__name__, find_model_class("tfmrc>SAN").__name__
    ('SAN', 'SAN')
    """
    import keras

    from tfmrc import models  # registers the papers' models
    from tfmrc.models.base import Model

    def is_model(thing: Any) -> bool:
        return isinstance(thing, type) and issubclass(thing, keras.Model) and thing is not Model

    registered = keras.saving.get_custom_objects()
    classes = {full: thing for full, thing in registered.items() if is_model(thing)}
    classes |= {full.rpartition(">")[2]: thing for full, thing in classes.items()}
    classes |= {n: thing for n, thing in vars(models).items() if is_model(thing)}
    if name in classes:
        return classes[name]
    # KerasHub registers models of its own, which have no preprocessor here.
    known = [short for short, cls in classes.items() if ">" not in short and issubclass(cls, Model)]
    similar = nearest(name, known)
    raise ValueError(
        "`model.name` must be the name of a registered model"
        + (f"; did you mean {similar}?" if similar else f": {', '.join(sorted(known))}.")
        + " Decorate a class of yours with `@keras.saving.register_keras_serializable(package="
        + f'"...")`, and name its module in `imports`. Received: model.name={name!r}'
    )


def check_experiment(experiment: Experiment) -> Classes:
    """Checks the settings of an experiment against its classes, before any data is read.

    Returns:
        The classes.

    Raises:
        ValueError: If no source is trained on, a class is not registered, or the model, its
            preprocessor, its training or its predictor has no such argument; the message names the
            nearest one.
    """
    from tfmrc.predictors.registry import find_predictor_class
    from tfmrc.storage.parts import registered_name
    from tfmrc.training.base import training_function

    if all(source.train is None for source in experiment.sources):
        raise ValueError(
            "At least one source must have a training file. Received: none with `train`"
        )
    settings = experiment.training
    model = find_model_class(str(experiment.model.get("name", "")))
    predictor, other = find_predictor_class(model), settings.optimizer_of
    optimizer = model if other is None else find_model_class(other)
    classes = Classes(model, predictor.preprocessor_class, predictor, optimizer)
    for cls in (model, classes.preprocessor, predictor):
        registered_name(cls)  # saved when training ends
    known = parameters_of(model)
    for setting, is_used, is_taken in (
        ("training.dtype", settings.dtype != "float32", "dtype" in known),
        ("encoder", bool(experiment.encoder), "encoder" in known),
        ("contextual", bool(experiment.contextual.files), "contextual_embedding" in known),
        ("tagger", experiment.tagger is not None, classes.read_tags),
    ):
        if is_used and not is_taken:
            raise ValueError(f"{model.__name__} cannot take the setting `{setting}`.")
    preset, presets = experiment.model.get("preset"), getattr(model, "presets", {})
    if preset is not None and preset not in presets and not Path(str(preset)).is_dir():
        raise ValueError(
            f"{model.__name__} has the presets {', '.join(presets)}"
            + suggestion(str(preset), presets)
            + f" Received: model.preset={preset!r}"
        )
    for name, value in experiment.model.items():  # of the base classes too, behind `**kwargs`
        if name not in (*RESERVED, *known, *KERAS):
            raise ValueError(unknown_argument("model", name, known, value))
    evaluation, options_class = experiment.evaluation, classes.predictor.options_class
    function = training_function(optimizer)
    try:
        check_arguments(classes.preprocessor, experiment.preprocessor, "preprocessor")
        check_arguments(function, settings.optimizer, "training.optimizer")
        check_arguments(options_class, evaluation.options, "evaluation.options")
        for name, options in evaluation.also.items():
            check_arguments(options_class, options, f"evaluation.also.{name}")
    except TypeError as error:
        raise ValueError(str(error)) from error
    return classes
