"""A predictor as a folder: weights, configuration, vocabulary, tool versions, metrics."""

import importlib
import importlib.metadata
import json
import platform
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import keras

import tfmrc
from tfmrc.predictors.folders import check_target, new_folder
from tfmrc.predictors.manifest import verify_files

__all__ = ["FORMAT", "Parts", "is_saved_predictor", "load_parts", "save_parts", "tool_versions"]

FORMAT = 2
CONFIG, WEIGHTS, METRICS, ASSETS = "config.json", "model.weights.h5", "metrics.json", "assets"
PACKAGE = "tfmrc"
ROOMS = {
    "predictor": "tfmrc.predictors",
    "model": "tfmrc.models",
    "preprocessor": "tfmrc.preprocessing",
}


class Parts(NamedTuple):
    """What a saved predictor is made of."""

    predictor_class: Any
    arguments: dict[str, Any]
    model: Any
    preprocessor: Any
    metrics: dict[str, Any]
    trained_parts: tuple[str, ...] | None


def tool_versions() -> dict[str, str]:
    """Returns the versions of the tools that a model was made with."""
    packages = ("tensorflow", "tensorflow-text", "keras", "numpy")
    return {
        "tfmrc": tfmrc.__version__,
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in packages},
    }


def is_saved_predictor(folder: Path) -> bool:
    """Returns whether a folder has the files of a saved predictor."""
    return all((folder / name).exists() for name in (CONFIG, WEIGHTS, ASSETS))


def save_parts(
    folder: str | PathLike[str],
    *,
    predictor: Any,
    model: Any,
    preprocessor: Any,
    metrics: Mapping[str, Any],
    trained_parts: Sequence[str] | None,
) -> Path:
    """Writes `config.json`, `model.weights.h5`, `metrics.json`, `assets/` and `manifest.json`.

    Classes are named as Keras registers them.

    Returns:
        The folder.
    """
    path = check_target(folder, is_saved_predictor)
    config = {
        "format": FORMAT,
        "versions": tool_versions(),
        "trained_parts": None if trained_parts is None else list(trained_parts),
        **{
            part: {"class": registered_name(type(thing)), "config": thing.get_config()}
            for part, thing in (
                ("predictor", predictor),
                ("model", model),
                ("preprocessor", preprocessor),
            )
        },
    }
    texts = {METRICS: _json(dict(metrics)), CONFIG: _json(config)}  # before anything is written
    size = sum(weight.dtype.size * int(weight.shape.num_elements()) for weight in _tensors(model))
    with new_folder(path, size) as part:
        model.save_weights(part / WEIGHTS)
        preprocessor.save_assets(part / ASSETS)
        for name, text in texts.items():
            (part / name).write_text(text, encoding="utf-8")
    return Path(folder)


def load_parts(folder: str | PathLike[str], *, verify: bool = True) -> Parts:
    """Rebuilds model and preprocessor from a folder; only registered classes are built.

    Args:
        folder: What `save_parts` wrote.
        verify: bool. Whether every file is compared with its digest first.

    Raises:
        FileNotFoundError: The folder is not a saved predictor.
        ValueError: It is damaged, newer than this tfmrc, or of a class that is not registered.
    """
    folder = Path(folder)
    for name in (CONFIG, WEIGHTS, ASSETS):
        if not (folder / name).exists():
            raise FileNotFoundError(
                f"{folder} is not a saved predictor: {name} is missing. "
                "Make one with `tfmrc.Predictor(model, preprocessor).save(folder)`."
            )
    config = _read_json(folder / CONFIG)
    written = config.get("format")
    if not isinstance(written, int) or isinstance(written, bool) or not 1 <= written <= FORMAT:
        raise ValueError(
            f"{folder / CONFIG} has a format that this tfmrc ({tfmrc.__version__}) does not know; "
            f"it reads format {FORMAT}. Install a newer tfmrc. Received: format={written!r}"
        )
    if written < FORMAT:
        raise ValueError(
            f"{folder / CONFIG} was written by an earlier tfmrc. Train or convert it again. "
            f"Received: format={written!r}"
        )
    if verify:
        verify_files(folder)
    predictor_class, arguments = _class_and_config(config, "predictor", folder)
    model_class, model_config = _class_and_config(config, "model", folder)
    preprocessor_class, sizes = _class_and_config(config, "preprocessor", folder)
    preprocessor = _built(
        folder, preprocessor_class, lambda: preprocessor_class.from_config(sizes, folder / ASSETS)
    )
    model = _built(folder, model_class, lambda: model_class.from_config(model_config))
    try:
        model.load_weights(folder / WEIGHTS)
    except (OSError, ValueError, KeyError, RuntimeError, NotImplementedError) as error:
        raise ValueError(
            f"{folder / WEIGHTS} does not fit the model of {folder / CONFIG}, or is damaged: "
            f"{error}"
        ) from error
    metrics = _read_json(folder / METRICS) if (folder / METRICS).exists() else {}
    trained_parts = _trained_parts(config, folder)
    return Parts(predictor_class, arguments, model, preprocessor, metrics, trained_parts)


def registered_name(cls: type) -> str:
    """Returns the name by which Keras registers a class.

    Raises:
        ValueError: It is not registered.
    """
    name: str = keras.saving.get_registered_name(cls)
    if keras.saving.get_registered_object(name) is not cls:
        raise ValueError(
            f"{cls.__name__} is not registered, so it could not be loaded again. Decorate the "
            'class with `@keras.saving.register_keras_serializable(package="...")`.'
        )
    return name


def _tensors(model: Any) -> list[Any]:
    return [getattr(weight, "value", weight) for weight in model.weights]


def _built(folder: Path, cls: Any, build: Any) -> Any:
    """Builds an object; wrong values in the configuration become one clear error."""
    try:
        return build()
    except (TypeError, ValueError, KeyError, AttributeError, OSError) as error:
        raise ValueError(
            f"{folder / CONFIG} does not describe a {cls.__name__}: {type(error).__name__}: {error}"
        ) from error


def _class_and_config(config: Mapping[str, Any], part: str, folder: Path) -> tuple[Any, dict]:
    cls = _class_of(config, part, folder)
    values = config[part].get("config")
    if not isinstance(values, dict):
        raise ValueError(
            f"{folder / CONFIG} must hold an object as the configuration of the {part}. "
            f"Received: config={values!r:.200}"
        )
    return cls, values


def _class_of(config: Mapping[str, Any], part: str, folder: Path) -> Any:
    entry = config.get(part)
    name = entry.get("class") if isinstance(entry, dict) else None
    known = None
    if isinstance(name, str):
        package, _, class_name = name.partition(">")
        room = importlib.import_module(ROOMS[part])
        if package == PACKAGE and class_name in room.__all__:
            getattr(room, class_name)  # registered when its file is imported
        known = keras.saving.get_registered_object(name)
    base = _base_of(part)
    if not isinstance(known, type) or not issubclass(known, base):
        raise ValueError(
            f"{folder / CONFIG} names a {part} class that is not registered. If it is your own, "
            "import the module that defines it, with "
            "`@keras.saving.register_keras_serializable(...)`, before loading. "
            f"Received: class={name!r:.200}"
        )
    return known


def _base_of(part: str) -> type:
    if part == "model":
        return keras.Model
    name = {"predictor": "Predictor", "preprocessor": "Preprocessor"}[part]
    base: type = getattr(importlib.import_module(ROOMS[part]), name)
    return base


def _trained_parts(config: Mapping[str, Any], folder: Path) -> tuple[str, ...] | None:
    names = config.get("trained_parts")
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"{folder / CONFIG} must hold a list of names as trained_parts. "
            f"Received: trained_parts={names!r:.200}"
        )
    return tuple(names)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} must hold a JSON object. Received: {value!r:.200}")
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
