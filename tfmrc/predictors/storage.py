"""A predictor as a folder: weights, configuration, vocabulary, tool versions, metrics."""

import importlib
import importlib.metadata
import json
import platform
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import tfmrc

__all__ = ["FORMAT", "load_parts", "save_parts", "tool_versions"]

FORMAT = 1
CONFIG, WEIGHTS, METRICS, ASSETS = "config.json", "model.weights.h5", "metrics.json", "assets"
ROOMS = {"model": "tfmrc.models", "preprocessor": "tfmrc.preprocessing"}


def tool_versions() -> dict[str, str]:
    """Versions of what a model was made with."""
    packages = ("tensorflow", "tensorflow-text", "keras", "numpy")
    return {
        "tfmrc": tfmrc.__version__,
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in packages},
    }


def save_parts(
    model: Any, preprocessor: Any, folder: str | PathLike[str], metrics: Mapping[str, Any]
) -> Path:
    """Writes `config.json`, `model.weights.h5`, `metrics.json` and `assets/`."""
    folder = Path(folder)
    (folder / ASSETS).mkdir(parents=True, exist_ok=True)
    config = {
        "format": FORMAT,
        "versions": tool_versions(),
        **{
            part: {"class": type(thing).__name__, "config": thing.get_config()}
            for part, thing in (("model", model), ("preprocessor", preprocessor))
        },
    }
    model.save_weights(folder / WEIGHTS)
    preprocessor.save_assets(folder / ASSETS)
    _write_json(folder / METRICS, dict(metrics))
    _write_json(folder / CONFIG, config)
    return folder


def load_parts(folder: str | PathLike[str]) -> tuple[Any, Any, dict[str, Any]]:
    """Rebuilds model and preprocessor; classes are found by name in their rooms."""
    folder = Path(folder)
    for name in (CONFIG, WEIGHTS, ASSETS):
        if not (folder / name).exists():
            raise FileNotFoundError(
                f"{folder} is not a saved predictor: {name} is missing. "
                "Make one with `MasquePredictor(model, preprocessor).save_to(folder)`."
            )
    config = _read_json(folder / CONFIG)
    written = config.get("format")
    if not isinstance(written, int) or written > FORMAT:
        raise ValueError(
            f"{folder / CONFIG} has a format that this tfmrc ({tfmrc.__version__}) does not know; "
            f"it reads formats up to {FORMAT}. Install a newer tfmrc. Received: format={written!r}"
        )
    model = _class_of(config, "model", folder).from_config(config["model"]["config"])
    preprocessor_class = _class_of(config, "preprocessor", folder)
    preprocessor = preprocessor_class.from_config(config["preprocessor"]["config"], folder / ASSETS)
    try:
        model.load_weights(folder / WEIGHTS)
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(
            f"{folder / WEIGHTS} does not fit the model of {folder / CONFIG}, or is damaged: "
            f"{error}"
        ) from error
    metrics = _read_json(folder / METRICS) if (folder / METRICS).exists() else {}
    return model, preprocessor, metrics


def _class_of(config: Mapping[str, Any], part: str, folder: Path) -> Any:
    entry = config.get(part)
    name = str(entry.get("class")) if isinstance(entry, dict) else ""
    room = importlib.import_module(ROOMS[part])
    if name not in room.__all__:
        raise ValueError(
            f"{folder / CONFIG} names a {part} that {ROOMS[part]} does not have. "
            f"Received: class={name!r}"
        )
    return getattr(room, name)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")
