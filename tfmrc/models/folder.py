"""Loads the model of a saved predictor: its class, configuration and weights."""

import importlib
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import keras

from tfmrc.utils.files import check_links, read_json, user_path
from tfmrc.utils.keras_private import built_without_drawing
from tfmrc.utils.run_imports import run_imports

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
PACKAGE = "tfmrc"
ROOM = "tfmrc.models"

_Built = TypeVar("_Built")


def load_model(
    folder: str | PathLike[str], expected: type = keras.Model, **overrides: Any
) -> keras.Model:
    """Loads the model of a predictor's folder: its configuration and its weights.

    The class is found by its registered name; no code of the folder is run.

    Args:
        folder: str or path. A folder that `Predictor.save` wrote.
        expected: class. The class, or a base class, that the model must have.
            Default: `keras.Model`.
        **overrides: Arguments of the constructor in place of the saved ones, such as `dropout`.

    Returns:
        The model.

    Raises:
        FileNotFoundError: If the folder lacks a file.
        ValueError: If the class is not registered or not the expected one, the configuration is
            wrong, or the weights do not fit.
    """
    folder = user_path(folder)
    check_links(folder)
    model = built_without_drawing(lambda: build_model(folder, expected, **overrides))
    try:
        model.load_weights(folder / WEIGHTS)
    except (OSError, ValueError, KeyError, RuntimeError, NotImplementedError) as error:
        raise ValueError(
            f"{folder / WEIGHTS} does not fit the model of {folder / CONFIG}, or is damaged: "
            f"{error}"
        ) from error
    return model


def build_model(folder: Path, expected: type = keras.Model, **overrides: Any) -> keras.Model:
    """Builds the model of a predictor's folder; its weights are random.

    Arguments and errors are those of `load_model`.
    """
    entries = read_json(folder / CONFIG)
    cls, config = class_and_config(entries, "model", keras.Model, ROOM, folder)
    if not issubclass(cls, expected):
        name = entries["model"]["class"]
        raise ValueError(
            f"{folder} holds a {cls.__name__}, not a {expected.__name__}. Received: class={name!r}"
        )
    if overrides:  # an error may be the caller's, and names the argument
        model: keras.Model = cls.from_config({**config, **overrides})
    else:
        model = build(folder, cls, lambda: cls.from_config(config))
    return model


def optimizer_of(model: keras.Model) -> list[Any]:
    """Returns the optimizer of a compiled model, which files of weights leave out.

    Its state is two to three times as large as the weights.

    Returns:
        A list for `objects_to_skip` of `keras.saving`, empty for a model that is not compiled.
    """
    optimizer = getattr(model, "optimizer", None)
    return [] if optimizer is None else [optimizer]


def class_and_config(
    entries: Mapping[str, Any], part: str, base: type, room: str, folder: Path
) -> tuple[Any, dict[str, Any]]:
    """Returns the registered class and the configuration of one part of a predictor.

    Args:
        entries: dict. The content of `config.json`.
        part: str. The part: `"predictor"`, `"model"` or `"preprocessor"`.
        base: type. The base class that the class must have.
        room: str. The package that defines tfmrc's own classes of this kind. Its names are
            imported, and thereby registered, on first use.
        folder: Path. The predictor's folder, for error messages.

    Raises:
        ValueError: If the class is not registered.
    """
    entry = entries.get(part)
    name = entry.get("class") if isinstance(entry, dict) else None
    cls = None
    if isinstance(name, str):
        package, _, class_name = name.partition(">")
        if package == PACKAGE:
            getattr(importlib.import_module(room), class_name, None)
        cls = keras.saving.get_registered_object(name)
    if not isinstance(entry, dict) or not isinstance(cls, type) or not issubclass(cls, base):
        modules = ", ".join(run_imports(folder))
        hint = (
            f" Its run names the module: `import {modules}` first, or on the command line give the "
            f"run's folder ({folder.parent})."
        )
        raise ValueError(
            f"{folder / CONFIG} names a {part} class that is not registered. Import the module "
            "that defines it with `@keras.saving.register_keras_serializable(...)`, then load "
            f"again.{hint if modules else ''} Received: class={name!r:.200}"
        )
    return cls, entry["config"]


def build(folder: Path, cls: type, construct: Callable[[], _Built]) -> _Built:
    """Builds an object; errors of a wrong configuration name the file and the class."""
    try:
        return construct()
    except (TypeError, ValueError, KeyError, AttributeError, OSError) as error:
        raise ValueError(
            f"{folder / CONFIG} does not describe a {cls.__name__}: {type(error).__name__}: {error}"
        ) from error
