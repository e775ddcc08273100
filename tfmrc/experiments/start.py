"""Training that starts from a trained model."""

from typing import Any

from tfmrc.experiments import run_folder
from tfmrc.experiments.building import RESERVED, classes_of, find_model_class
from tfmrc.experiments.settings import Experiment
from tfmrc.models.base import FLAGS
from tfmrc.models.configuration import serialized
from tfmrc.models.folder import CONFIG
from tfmrc.models.freezing import set_trainable_flags, trainable_flags

__all__ = ["check_start", "freeze", "load_start", "thaw"]


def check_start(experiment: Experiment) -> None:
    """Raises a ValueError if training starts from the model of another paper.

    Only the configuration of the folder is read, so the error comes before any data is read.

    Raises:
        ValueError: If the folder is no predictor's, or has a model of another kind.
    """
    folder = run_folder.start_folder(experiment)
    if folder is None:
        return
    from tfmrc.predictors.registry import find_predictor_class

    wanted = classes_of(experiment)
    entries = run_folder.read_json(folder / CONFIG, "train")
    name = str(entries.get("model", {}).get("class", "")) if isinstance(entries, dict) else ""
    try:
        received = find_model_class(name)
    except ValueError as error:
        raise ValueError(
            f"{folder / CONFIG} names a model that is not registered: {error}"
        ) from None
    if not issubclass(find_predictor_class(received), wanted.predictor):
        raise ValueError(
            f"{experiment.name} trains {wanted.model.__name__}, and the model in "
            f"{experiment.start_from} is {received.__name__}. Train it further with a recipe of "
            f"{received.__name__}, or name the folder of a trained {wanted.model.__name__}. "
            f"Received: start_from={experiment.start_from!r}"
        )


def load_start(experiment: Experiment, tagger: str | None) -> Any:
    """Loads the predictor that training starts from; None without one.

    Args:
        experiment: `Experiment`. The experiment.
        tagger: str or None. Name and version of the experiment's tagger.

    Raises:
        ValueError: If the predictor does not fit the experiment's model, styles, tagger or dtype,
            or the folder is damaged.
    """
    folder = run_folder.start_folder(experiment)
    if folder is None:
        return None
    classes = classes_of(experiment)
    predictor = classes.predictor.load(folder)
    model, preprocessor = predictor.model, predictor.preprocessor

    def check(fits: bool, setting: str, ours: Any, theirs: Any) -> None:
        if not fits:
            raise ValueError(
                f"`{setting}` must fit the model in {folder}, which has {theirs!r}. "
                f"Received: {setting}={ours!r}"
            )

    missing = [style for style in experiment.styles if style not in preprocessor.styles]
    check(not missing, "sources.styles", list(experiment.styles), list(preprocessor.styles))
    theirs = getattr(model, "tagger", tagger)
    check(tagger == theirs, "tagger", tagger, theirs)
    dtype = model.dtype_policy.name
    check(experiment.training.dtype == dtype, "training.dtype", experiment.training.dtype, dtype)
    predictor.model = _with_seed(model, experiment.seed)
    unused = _unused_settings(experiment, predictor)
    if unused:
        print(
            f"The model in {folder} has its own settings, which stay: {'; '.join(unused)}.",
            flush=True,
        )
    return predictor


def _with_seed(model: Any, seed: int) -> Any:
    """Returns the model with the dropout of the experiment's seed, if its class has a `seed`."""
    config = model.get_config()
    if config.get("seed") in (None, seed):
        return model
    copy = type(model).from_config({**config, "seed": seed})
    copy.set_weights(model.get_weights())
    copy.trained_outputs = model.trained_outputs
    return copy


def _unused_settings(experiment: Experiment, predictor: Any) -> list[str]:
    """Returns the settings of the experiment that differ from those of the model in the folder."""
    model = dict(experiment.model)
    preset = type(predictor.model).PRESETS.get(str(model.pop("preset", None)))
    arguments = {} if preset is None else preset.arguments
    wanted = {
        "model": {**arguments, **{k: v for k, v in model.items() if k not in RESERVED}},
        "preprocessor": experiment.preprocessor,
    }
    lines = []
    for room, part in (("model", predictor.model), ("preprocessor", predictor.preprocessor)):
        kept = part.get_config()
        for name, value in wanted[room].items():
            if name in kept and kept[name] != serialized(value):
                lines.append(f"{room}.{name} {kept[name]!r}, not {value!r}")
    return lines


def thaw(experiment: Experiment, model: Any) -> None:
    """Trains the layers that were frozen before, but for those that the model's arguments freeze.

    `training.frozen` of this experiment alone decides, so that a head can be trained first and
    everything after it.
    """
    config = model.get_config()
    before = config.pop(FLAGS, {})
    if not before:
        return
    initial = trainable_flags(type(model).from_config(config))
    set_trainable_flags(model, {**dict.fromkeys(before, True), **initial})
    thawed = sorted(set(before) - set(initial) - set(experiment.training.frozen))
    if thawed:
        print(
            f"The layers {', '.join(thawed)} of the model in {experiment.start_from} were frozen "
            "and are trained now; `training.frozen` names those that stay.",
            flush=True,
        )


def freeze(experiment: Experiment, model: Any) -> None:
    """Freezes the layers that `training.frozen` names.

    Raises:
        ValueError: If the model has no such layer.
    """
    names = experiment.training.frozen
    if not names:
        return
    try:
        set_trainable_flags(model, dict.fromkeys(names, False))
    except ValueError:
        layers = ", ".join(layer.name for layer in model.layers if layer.weights)
        raise ValueError(
            f"The layers of {type(model).__name__} are {layers}. "
            f"Received: training.frozen={list(names)}"
        ) from None
    if not model.trainable_weights:
        raise ValueError(
            "With every layer frozen there is nothing to train. "
            f"Received: training.frozen={list(names)}"
        )
