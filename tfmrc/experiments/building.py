"""Builds the model, the preprocessor and the arguments of `compile` from settings."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfmrc.experiments.run_folder import read_json, trained_folder
from tfmrc.experiments.settings import Experiment
from tfmrc.experiments.sources import check_sources, contextual_files
from tfmrc.utils.arguments import (
    check_arguments,
    nearest,
    parameters_of,
    suggestion,
    unknown_argument,
)
from tfmrc.utils.run_imports import import_modules

RESERVED = ("name", "preset")  # settings of `model` that are no arguments
TAGS = ("lemmas", "pos_tags", "ner_tags")  # arguments of a preprocessor
KERAS = ("dtype", "trainable")  # arguments that every Keras model takes


@dataclass(frozen=True)
class Classes:
    """The model, preprocessor and predictor classes of a paper, or a user's own."""

    model: Any
    preprocessor: Any
    predictor: Any


def classes_of(experiment: Experiment) -> Classes:
    """Finds the classes of an experiment by the registered name of its model.

    Modules in `imports` are imported first, also from the current folder.

    Raises:
        ValueError: If there is no such model, or no predictor is declared for it.
    """
    from tfmrc.predictors.registry import find_predictor_class

    import_modules(experiment.imports)
    model_class = find_model_class(str(experiment.model.get("name", "")))
    predictor = find_predictor_class(model_class)
    return Classes(model_class, predictor.preprocessor_class, predictor)


def reads_tags(classes: Classes) -> bool:
    """Whether the model reads tags: its preprocessor has annotations, or an argument of tags."""
    parameters = parameters_of(classes.preprocessor)
    return bool(classes.preprocessor.annotations) or any(name in parameters for name in TAGS)


def tag_arguments(classes: Classes, tags: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of tags that the preprocessor takes."""
    parameters = parameters_of(classes.preprocessor)
    return {name: value for name, value in tags.items() if name in parameters}


def find_model_class(name: str) -> Any:
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
    known = [
        short for short, each in classes.items() if ">" not in short and issubclass(each, Model)
    ]
    similar = nearest(name, known)
    raise ValueError(
        "`model.name` is the name of a registered model"
        + (f"; did you mean {similar}?" if similar else f": {', '.join(sorted(known))}.")
        + f" Received: model.name={name!r}"
    )


def check_experiment(experiment: Experiment) -> Classes:
    """Checks all names of an experiment before any data is read.

    Returns:
        The classes.

    Raises:
        ValueError: If a source, the model, its preprocessor, its training or its predictor has no
            such argument; the message names the nearest one.
    """
    from tfmrc.training.base import COMMON, training_function

    import_modules(experiment.imports)
    check_sources(experiment)
    classes = classes_of(experiment)
    of_model = {key: value for key, value in experiment.model.items() if key not in RESERVED}
    preset = experiment.model.get("preset")
    known_presets = getattr(classes.model, "presets", {})
    if preset is not None and preset not in known_presets and not Path(str(preset)).is_dir():
        raise ValueError(
            f"{classes.model.__name__} has the presets {', '.join(known_presets)}"
            + suggestion(str(preset), known_presets)
            + f" Received: model.preset={preset!r}"
        )
    if experiment.training.dtype != "float32" and "dtype" not in parameters_of(classes.model):
        raise ValueError(
            f"{classes.model.__name__} has no argument `dtype`. "
            f"Received: training.dtype={experiment.training.dtype!r}"
        )
    if experiment.encoder:
        _check_encoder(experiment, classes)
    if experiment.contextual:
        _check_contextual(experiment, classes)
    if experiment.tagger is not None and not reads_tags(classes):
        raise ValueError(
            f"{classes.preprocessor.__name__} reads no tags. Received: tagger={experiment.tagger!r}"
        )
    chosen = experiment.vocabulary
    if chosen.rows_from_encoder and (chosen.vectors is not None or not experiment.encoder):
        raise ValueError(
            "Words' rows come from an encoder, which `encoder` names, or from vectors. Received: "
            f"vocabulary.rows_from_encoder=true, vocabulary.vectors={chosen.vectors!r}, "
            f"encoder={dict(experiment.encoder)!r}"
        )
    for name, part in (("training", experiment.training), ("evaluation", experiment.evaluation)):
        if part.batch_size < 1:
            raise ValueError(
                f"A batch has at least one example. Received: {name}.batch_size={part.batch_size}"
            )
    for name in ("steps", "epochs", "eval_every_steps", "checkpoint_every_steps", "best_of"):
        number = getattr(experiment.training, name)
        if number is not None and number < 1:
            raise ValueError(f"The number is at least 1. Received: training.{name}={number}")
    for name in ("teacher_weight", "temperature"):
        number = getattr(experiment.training, name)
        if not number > 0:
            raise ValueError(f"The number is above 0. Received: training.{name}={number}")
    for seed in (experiment.seed, *experiment.grid.seeds):
        if not 0 <= seed < 2**32:
            raise ValueError(f"A seed is from 0 to 2**32 - 1. Received: seed={seed}")
    if "styles" not in parameters_of(classes.preprocessor):
        raise ValueError(
            "A preprocessor takes the styles of the sources: its constructor needs an argument "
            f"`styles`. Received: {classes.preprocessor.__name__}"
        )
    function = training_function(_optimizer_class(experiment, classes))
    options = experiment.evaluation
    options_class = classes.predictor.options_class
    try:
        _check_model(classes.model, of_model)
        check_arguments(classes.preprocessor, experiment.preprocessor, "preprocessor")
        check_arguments(function, experiment.training.optimizer, "training.optimizer")
        check_arguments(options_class, options.options, "evaluation.options")
        for name, more in options.also.items():
            check_arguments(options_class, more, f"evaluation.also.{name}")
    except TypeError as error:
        raise ValueError(str(error)) from error
    for name in COMMON:
        if name in experiment.training.optimizer:
            raise ValueError(
                f"`{name}` follows from the training's settings. Received: "
                f"training.optimizer.{name}={experiment.training.optimizer[name]!r}"
            )
    return classes


def _check_encoder(experiment: Experiment, classes: Classes) -> None:
    if "preset" not in experiment.encoder:
        raise ValueError(
            "`encoder` names a `preset`, as minilm or a folder. "
            f"Received: encoder={dict(experiment.encoder)!r}"
        )
    for each in (classes.model, classes.preprocessor):
        if "encoder" not in parameters_of(each):
            raise ValueError(
                f"{each.__name__} takes no encoder. Received: encoder={experiment.encoder!r}"
            )


def check_encoder_exists(experiment: Experiment) -> None:
    """Raises a ValueError, before any data is read, if the encoder or its package is missing."""
    if not experiment.encoder:
        return
    from tfmrc.encoders.presets import check_preset

    preset = str(experiment.encoder["preset"])
    try:
        check_preset(preset)
    except ImportError as error:
        raise ValueError(f"encoder: {error}") from error
    if "/" in preset and "://" not in preset and not Path(preset).is_dir():
        raise ValueError(
            "`encoder.preset` is no folder; that of a trained run is there once it is trained. "
            f"Received: encoder.preset={preset!r}"
        )


def build_encoder(experiment: Experiment) -> Any:
    """Builds the pretrained encoder of an experiment; None without one.

    Raises:
        ValueError: If an option does not exist, or the encoder cannot be loaded.
    """
    if not experiment.encoder:
        return None
    import tfmrc
    from tfmrc import encoders
    from tfmrc.models.folder import CONFIG

    options = {"dtype": experiment.training.dtype, **experiment.encoder}
    try:
        folder = trained_folder(options["preset"])
        # A folder of KerasHub has files of the same names.
        if folder is not None and "format" in read_json(folder / CONFIG, "train"):
            options["preset"] = tfmrc.load(folder)
        return encoders.from_preset(**options)
    except (TypeError, ImportError) as error:
        raise ValueError(f"encoder: {error}") from error


def build_contextual(experiment: Experiment, data: Path) -> Any:
    """Loads the contextual embedding of an experiment; None without one.

    Args:
        experiment: `Experiment`. The experiment.
        data: Path. The data folder.

    Raises:
        ValueError: If its file cannot be read.
    """
    if not experiment.contextual:
        return None
    from tfmrc.encoders import load_cove, load_elmo

    paths = [data / name for name in contextual_files(experiment)]
    [(name, _)] = experiment.contextual.items()
    load: Any = {"cove": load_cove, "elmo": load_elmo}[name]
    return load(*paths, name=name, dtype=experiment.training.dtype)


def _check_contextual(experiment: Experiment, classes: Classes) -> None:
    contextual_files(experiment)
    if "contextual_embedding" not in parameters_of(classes.model):
        raise ValueError(
            f"{classes.model.__name__} takes no contextual embedding. "
            f"Received: contextual={experiment.contextual}"
        )


def _check_model(model_class: Any, given: Mapping[str, Any]) -> None:
    """Raises a TypeError if a model has no such argument, even if it accepts `**kwargs`."""
    known = list(parameters_of(model_class))
    for name, value in given.items():
        if name not in (*known, *KERAS):
            raise TypeError(unknown_argument("model", name, known, value))


def _optimizer_class(experiment: Experiment, classes: Classes) -> Any:
    other = experiment.training.optimizer_of
    return classes.model if other is None else find_model_class(other)


def build_preprocessor(
    experiment: Experiment, vocabulary: Any, more: Mapping[str, Any] | None = None
) -> Any:
    """Builds the preprocessor of an experiment.

    Args:
        experiment: `Experiment`. The experiment.
        vocabulary: `tfmrc.text.Vocabulary`. The words.
        more: dict or None. Arguments determined by the data, such as the tags. Default: None.

    Raises:
        ValueError: If an argument does not exist or has an invalid value.
    """
    classes = classes_of(experiment)
    arguments = {"styles": experiment.styles, **(more or {}), **experiment.preprocessor}
    try:
        return classes.preprocessor(vocabulary, **arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"preprocessor: {error}") from error


def build_model(
    experiment: Experiment,
    preprocessor: Any,
    tagger: str | None = None,
    encoder: Any = None,
    contextual: Any = None,
) -> Any:
    """Builds the model of an experiment with the preprocessor's sizes.

    Args:
        experiment: `Experiment`. The experiment.
        preprocessor: The preprocessor, which determines the sizes.
        tagger: str or None. Name and version of the tagger whose tags the model reads.
            Default: None.
        encoder: A pretrained encoder, or None. Default: None.
        contextual: A contextual embedding, or None. Default: None.

    Raises:
        ValueError: If an argument does not exist, is determined by the preprocessor, or has an
            invalid value.
    """
    model_class = classes_of(experiment).model
    given = {key: value for key, value in experiment.model.items() if key not in RESERVED}
    settled = preprocessor.model_kwargs()
    both = sorted(settled.keys() & given.keys())
    if both:
        raise ValueError(
            f"The preprocessor determines `{both[0]}` of the model. "
            f"Received: model.{both[0]}={given[both[0]]!r}"
        )
    parameters = parameters_of(model_class)
    arguments = {**settled, **given}
    if "dtype" in parameters:
        arguments.setdefault("dtype", experiment.training.dtype)
    if "seed" in parameters:
        arguments.setdefault("seed", experiment.seed)
    if tagger is not None and "tagger" in parameters:
        arguments["tagger"] = tagger
    if encoder is not None:
        arguments["encoder"] = encoder
    if contextual is not None:
        arguments["contextual_embedding"] = contextual
    preset = experiment.model.get("preset")
    try:
        if preset is not None:
            return model_class.from_preset(preset, **arguments)
        return model_class(**arguments)
    except (TypeError, ValueError) as error:
        # A number that YAML reads as a text: "1e-3", or "nought".
        texts = [
            f"model.{name}={value!r}"
            for name, value in given.items()
            if isinstance(value, str) and isinstance(_default(parameters, name), int | float)
        ]
        wrong = f". Received: {', '.join(texts)}" if texts and isinstance(error, TypeError) else ""
        raise ValueError(f"model: {error}{wrong}") from error


def _default(parameters: Mapping[str, inspect.Parameter], name: str) -> Any:
    return parameters[name].default if name in parameters else None


def compile_arguments(
    experiment: Experiment, model: Any, steps: int, steps_per_epoch: int
) -> dict[str, Any]:
    """Returns the arguments of `compile`: the paper's training with the experiment's options.

    With `training.optimizer_of` the optimizer is that of another paper and the losses are the
    model's own.

    Raises:
        ValueError: With `training.optimizer_of` an encoder is trained, whose rates it has not.
    """
    from tfmrc import training
    from tfmrc.training.base import training_function, with_loss_scale

    options, other = experiment.training.optimizer, experiment.training.optimizer_of
    sizes = {"steps": steps, "steps_per_epoch": steps_per_epoch}
    if other is None:
        return training.compile_arguments(model, **sizes, **options)
    encoder = getattr(model, "encoder", None)
    if encoder is not None and encoder.trainable_weights:
        raise ValueError(
            "`training.optimizer_of` has no learning rates for an encoder that is trained. "
            f"Received: training.optimizer_of={other!r}, encoder={dict(experiment.encoder)!r}"
        )
    arguments = training.compile_arguments(model, **sizes)
    optimizer = training_function(find_model_class(other))(model=None, **sizes, **options)[
        "optimizer"
    ]
    return {**arguments, "optimizer": with_loss_scale(optimizer, model)}
