"""A run with its names resolved: its settings, classes, files and folders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.settings import Experiment, Grid, changed
from tfmrc.utils.arguments import (
    check_arguments,
    nearest,
    parameters_of,
    suggestion,
    unknown_argument,
)

__all__ = [
    "Classes",
    "Plan",
    "check_experiment",
    "classes_of",
    "find_model_class",
    "is_grid",
    "members",
    "single_run",
    "trained_below",
]

RESERVED = ("name", "preset")  # settings of `model` that are no arguments
TAGS = ("lemmas", "pos_tags", "ner_tags")  # arguments of a preprocessor
KERAS = ("dtype", "trainable")  # arguments that every Keras model takes


@dataclass(frozen=True)
class Classes:
    """The model, preprocessor and predictor classes of a paper, or a user's own."""

    model: Any
    preprocessor: Any
    predictor: Any

    @property
    def read_tags(self) -> bool:
        """True if the preprocessor has annotations, or an argument of tags."""
        parameters = parameters_of(self.preprocessor)
        return bool(self.preprocessor.annotations) or any(name in parameters for name in TAGS)

    def tag_arguments(self, tags: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments of tags that the preprocessor takes."""
        parameters = parameters_of(self.preprocessor)
        return {name: value for name, value in tags.items() if name in parameters}


@dataclass(frozen=True)
class Plan:
    """One run of an experiment.

    Attributes:
        experiment: `Experiment`. The settings, without a grid.
        folder: Path. The run's folder.
        variant: str. Name of the grid's variant; "" without variants. Default: "".
        data: Path. The data folder. Default: the current folder.
    """

    experiment: Experiment
    folder: Path
    variant: str = ""
    data: Path = Path()

    @cached_property
    def classes(self) -> Classes:
        """The classes of the model's paper; the names in the settings are checked."""
        return check_experiment(self.experiment)

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.experiment.seed

    @property
    def is_trained(self) -> bool:
        """True if the run is trained and its predictor is there."""
        return _is_trained(self.folder)


def _is_trained(folder: Path) -> bool:
    return all((folder / name).exists() for name in (folders.TRAINING, folders.PREDICTOR))


# === Classes ===


def classes_of(experiment: Experiment) -> Classes:
    """Finds the classes of an experiment by the registered name of its model.

    Raises:
        ValueError: If there is no such model, or no predictor is declared for it.
    """
    from tfmrc.predictors.registry import find_predictor_class

    model_class = find_model_class(str(experiment.model.get("name", "")))
    predictor = find_predictor_class(model_class)
    return Classes(model_class, predictor.preprocessor_class, predictor)


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
    known = [short for short, cls in classes.items() if ">" not in short and issubclass(cls, Model)]
    similar = nearest(name, known)
    raise ValueError(
        "`model.name` is the name of a registered model"
        + (f"; did you mean {similar}?" if similar else f": {', '.join(sorted(known))}.")
        + f" Received: model.name={name!r}"
    )


def check_experiment(experiment: Experiment) -> Classes:
    """Checks the settings of an experiment against its classes, before any data is read.

    Returns:
        The classes.

    Raises:
        ValueError: If no source is trained on, or the model, its preprocessor, its training or its
            predictor has no such argument; the message names the nearest one.
    """
    from tfmrc.training.base import training_function

    if all(source.train is None for source in experiment.sources):
        raise ValueError("At least one source has a training file. Received: none with `train`")
    classes, settings = classes_of(experiment), experiment.training
    known = parameters_of(classes.model)
    for setting, is_used, is_taken in (
        ("training.dtype", settings.dtype != "float32", "dtype" in known),
        ("encoder", bool(experiment.encoder), "encoder" in known),
        ("contextual", bool(experiment.contextual.files), "contextual_embedding" in known),
        ("tagger", experiment.tagger is not None, classes.read_tags),
    ):
        if is_used and not is_taken:
            name = classes.model.__name__
            raise ValueError(f"`{setting}` has no effect on {name}, which does not take it.")
    preset, presets = experiment.model.get("preset"), getattr(classes.model, "presets", {})
    if preset is not None and preset not in presets and not Path(str(preset)).is_dir():
        raise ValueError(
            f"{classes.model.__name__} has the presets {', '.join(presets)}"
            + suggestion(str(preset), presets)
            + f" Received: model.preset={preset!r}"
        )
    for name, value in experiment.model.items():  # of the base classes too, behind `**kwargs`
        if name not in (*RESERVED, *known, *KERAS):
            raise ValueError(unknown_argument("model", name, known, value))
    evaluation, options_class = experiment.evaluation, classes.predictor.options_class
    function = training_function(optimizer_class(experiment, classes))
    try:
        check_arguments(classes.preprocessor, experiment.preprocessor, "preprocessor")
        check_arguments(function, settings.optimizer, "training.optimizer")
        check_arguments(options_class, evaluation.options, "evaluation.options")
        for name, options in evaluation.also.items():
            check_arguments(options_class, options, f"evaluation.also.{name}")
    except TypeError as error:
        raise ValueError(str(error)) from error
    return classes


def optimizer_class(experiment: Experiment, classes: Classes) -> Any:
    """Returns the model class whose training function makes the optimizer."""
    other = experiment.training.optimizer_of
    return classes.model if other is None else find_model_class(other)


# === The runs of an experiment ===


def is_grid(experiment: Experiment) -> bool:
    """Returns True if an experiment has several runs."""
    return bool(experiment.grid.variants or experiment.grid.seeds)


def members(
    experiment: Experiment,
    folder: Path,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    data: Path = Path(),
) -> list[Plan]:
    """Returns the runs of an experiment, ordered by seed, then by variant.

    All variants of a seed come before the next seed, so that an interrupted table is balanced. A
    variant or seed that is named twice is one run, which counts once in means and deviations.

    Args:
        experiment: `Experiment`. The experiment.
        folder: Path. Its folder; the runs of a grid are in `VARIANT-SEED`.
        variants: list of str or None. Names of variants; None for all. Default: None.
        seeds: list of int or None. Seeds; None for those of the grid. Default: None.
        data: Path. The data folder. Default: the current folder.

    Raises:
        ValueError: If there is no such variant.

    Example:

    >>> values = {"name": "x", "sources": [], "model": {"name": "SAN"}}
    >>> grid = {"variants": {"a": {}, "b": {"model.num_steps": 1}}, "seeds": [1, 2]}
    >>> from tfmrc.experiments import from_mapping
    >>> experiment = from_mapping({**values, "grid": grid})
    >>> [plan.folder.name for plan in members(experiment, Path("runs/x"))]
    ['a-1', 'b-1', 'a-2', 'b-2']
    """
    known = experiment.grid.variants
    for name in variants or ():
        if name not in known:
            raise ValueError(
                f"The variants are {', '.join(known) or 'none'}"
                + suggestion(name, known)
                + f" Received: {name}"
            )
    if not is_grid(experiment) and not seeds:
        return [Plan(experiment, folder, data=data)]
    base, runs = replace(experiment, grid=Grid()), []
    for seed in dict.fromkeys(seeds or experiment.grid.seeds or (experiment.seed,)):
        for variant in dict.fromkeys(variants or known or ("",)):
            settings = changed(base, {**known.get(variant, {}), "seed": seed})
            name = f"{variant}-{seed}" if variant else f"seed-{seed}"
            runs.append(Plan(settings, folder / name, variant, data))
    return runs


def single_run(experiment: Experiment, folder: Path) -> Plan:
    """Returns the only run of a folder.

    Raises:
        ValueError: If the folder has the runs of a grid or of several seeds, so that one must be
            named.
    """
    run = Plan(experiment, folder)
    names = trained_below(folder)
    if is_grid(experiment) or (names and not run.is_trained):
        raise ValueError(
            f"{folder} holds the runs of a grid; name one of them"
            + (f": {', '.join(map(str, names))}." if names else ", none of which is trained.")
        )
    return run


def trained_below(folder: Path) -> list[Path]:
    """Returns the folders of the trained runs in the folder of a grid, or of several seeds."""
    below = sorted(file.parent for file in folder.glob(f"*/{folders.MARKER}"))
    return [path for path in below if _is_trained(path) and not folders.is_old(path)]
