"""Saves a predictor as a folder: weights, configuration, vocabulary, versions, metrics."""

import importlib.metadata
import json
import platform
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import keras
import tensorflow as tf

import tfmrc
from tfmrc.models.folder import CONFIG, WEIGHTS, build, class_and_config, load_model, optimizer_of
from tfmrc.preprocessing import Preprocessor
from tfmrc.storage.folders import check_target, new_folder
from tfmrc.storage.manifest import verify_files
from tfmrc.storage.protocols import ExportablePredictor
from tfmrc.utils.files import check_links, read_json, user_path

FORMAT = 3
METRICS, ASSETS, CALIBRATION = "metrics.json", "assets", "calibration.json"


class SavedParts(NamedTuple):
    """The parts of a saved predictor: the arguments are those of its class beside the others."""

    predictor_class: type
    arguments: dict[str, Any]
    model: keras.Model
    preprocessor: Preprocessor
    metrics: dict[str, Any]
    default_options: dict[str, Any]
    calibration: dict[str, Any] | None


def tool_versions() -> dict[str, str]:
    """Returns the versions of Python and of the packages that a model depends on."""
    packages = ["tensorflow-text", "keras", "numpy"]
    if keras.backend.backend() != "tensorflow":
        packages.append(keras.backend.backend())
    return {
        "tfmrc": tfmrc.__version__,
        "python": platform.python_version(),
        "tensorflow": tf.__version__,  # the package may also be tensorflow-cpu
        **{name: importlib.metadata.version(name) for name in packages},
    }


def is_saved_predictor(folder: Path) -> bool:
    """Returns True if a folder has the files of a saved predictor."""
    return all((folder / name).exists() for name in (CONFIG, WEIGHTS, ASSETS))


def save_parts(
    folder: str | PathLike[str], predictor: ExportablePredictor, metrics: Mapping[str, Any]
) -> Path:
    """Writes `config.json`, `model.weights.h5`, `metrics.json`, `assets/` and `manifest.json`.

    A calibration is written to `calibration.json`. Classes are named as Keras registers them.

    Returns:
        The folder.
    """
    path, model = check_target(folder, is_saved_predictor), predictor.model
    parts = {"predictor": predictor, "model": model, "preprocessor": predictor.preprocessor}
    config = {
        "format": FORMAT,
        "versions": tool_versions(),
        "trained_outputs": getattr(model, "trained_outputs", None),
        "options": predictor.default_options,
        **{
            name: {"class": registered_name(type(part)), "config": part.get_config()}
            for name, part in parts.items()
        },
    }
    texts = {METRICS: _json(dict(metrics)), CONFIG: _json(config)}  # before anything is written
    if predictor.calibration is not None:
        texts[CALIBRATION] = _json(predictor.calibration.to_json())
    size = sum(keras.ops.convert_to_numpy(weight).nbytes for weight in model.weights)
    with new_folder(path, size) as part:
        keras.saving.save_weights(model, part / WEIGHTS, objects_to_skip=optimizer_of(model))
        predictor.preprocessor.save_assets(part / ASSETS)
        for name, text in texts.items():
            (part / name).write_text(text, encoding="utf-8")
    return user_path(folder)


def load_parts(
    folder: str | PathLike[str], predictor_base: type, *, verify: bool = True
) -> SavedParts:
    """Loads model and preprocessor from a folder; only registered classes are built.

    Args:
        folder: str or path. A folder that `save_parts` wrote.
        predictor_base: class. The base class of predictors.
        verify: bool. Whether every file is compared with its digest first. Default: True.

    Raises:
        FileNotFoundError: If the folder is not a saved predictor.
        ValueError: If it is damaged, of another format, of a class that is not registered, or has
            links to files outside.
    """
    folder = user_path(folder)
    for name in (CONFIG, WEIGHTS, ASSETS):
        if not (folder / name).exists():
            raise FileNotFoundError(
                f"{folder} is not a saved predictor: {name} is missing. "
                "Make one with `tfmrc.Predictor(model, preprocessor).save(folder)`."
            )
    check_links(folder)
    config = read_json(folder / CONFIG)
    if config.get("format") != FORMAT:
        raise ValueError(
            f"{folder / CONFIG} was written by another version of tfmrc than this one "
            f"({tfmrc.__version__}, format {FORMAT}): install that one, or train again. "
            f"Received: format={config.get('format')!r}"
        )
    if verify:
        verify_files(folder)

    def part(name: str, base: type) -> tuple[Any, dict[str, Any]]:
        package = base.__module__.rpartition(".")[0]
        return class_and_config(config, name, base, package, folder)

    predictor_class, arguments = part("predictor", predictor_base)
    preprocessor_class, sizes = part("preprocessor", Preprocessor)
    preprocessor = build(
        folder, preprocessor_class, lambda: preprocessor_class.from_config(sizes, folder / ASSETS)
    )
    model: Any = load_model(folder)
    outputs, trained = getattr(model, "output", None), config.get("trained_outputs")
    if isinstance(outputs, dict):  # what was trained stays so in a further `fit`
        model.trained_outputs = tuple(outputs if trained is None else trained)
    metrics = read_json(folder / METRICS) if (folder / METRICS).exists() else {}
    calibration = read_json(folder / CALIBRATION) if (folder / CALIBRATION).exists() else None
    options = config.get("options", {})
    return SavedParts(
        predictor_class, arguments, model, preprocessor, metrics, options, calibration
    )


def registered_name(cls: type) -> str:
    """Returns the name by which Keras registers a class.

    Raises:
        ValueError: If it is not registered.
    """
    name: str = keras.saving.get_registered_name(cls)
    if keras.saving.get_registered_object(name) is not cls:
        raise ValueError(
            f"{cls.__name__} is not registered, so it could not be loaded again. Decorate the "
            'class with `@keras.saving.register_keras_serializable(package="...")`.'
        )
    return name


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
