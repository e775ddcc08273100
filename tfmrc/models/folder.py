"""The model of a saved predictor, without its preprocessor."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import keras

__all__ = ["CONFIG", "WEIGHTS", "load_model"]

CONFIG, WEIGHTS = "config.json", "model.weights.h5"


def load_model(
    folder: str | PathLike[str], expected: type = keras.Model, **overrides: Any
) -> keras.Model:
    """Loads the model of a predictor's folder: its configuration and its weights.

    The class is found by its registered name; no code of the folder is run.

    Args:
        folder: Path of a folder that `Predictor.save` wrote.
        expected: type. The class, or a base class, that the model must have.
        **overrides: Arguments of the constructor in place of the saved ones, such as `dropout`.

    Returns:
        The model.

    Raises:
        FileNotFoundError: The folder lacks a file.
        ValueError: The class is not registered or not the expected one, or the weights do not fit.
    """
    folder = Path(folder)
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"{folder} is not the folder of a saved predictor: {name} is missing. "
                "`predictor.save(folder)` writes one."
            )
    try:
        entry = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["model"]
        name, config = entry["class"], entry["config"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder / CONFIG} is damaged: {error!r}") from error
    cls = keras.saving.get_registered_object(str(name))
    if cls is None:
        raise ValueError(
            f"{folder / CONFIG} names a model that is not registered. Import the module that "
            "defines it with `@keras.saving.register_keras_serializable`, then load again. "
            f"Received: class={name!r}"
        )
    if not issubclass(cls, expected):
        raise ValueError(
            f"{folder} holds a {cls.__name__}, not a {expected.__name__}. Received: class={name!r}"
        )
    model = cls.from_config({**config, **overrides})
    try:
        model.load_weights(folder / WEIGHTS)
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(
            f"{folder / WEIGHTS} does not fit the model of {folder / CONFIG}, or is damaged: "
            f"{error}"
        ) from error
    return model
