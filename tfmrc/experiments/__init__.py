"""Experiments: from a YAML file to a trained, scored and exported model, one function per step.

Nothing heavy is imported before a step runs: reading a YAML file or printing help is instant.
"""

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Recipe": "configuration",
    "Source": "configuration",
    "evaluate": "evaluate",
    "export": "use",
    "export_predictor": "use",
    "load": "configuration",
    "predict": "use",
    "prepare": "prepare",
    "recipe_of": "configuration",
    "save": "configuration",
    "train": "train",
}

if TYPE_CHECKING:
    from tfmrc.experiments.configuration import Recipe, Source, load, recipe_of, save
    from tfmrc.experiments.evaluate import evaluate
    from tfmrc.experiments.prepare import prepare
    from tfmrc.experiments.train import train
    from tfmrc.experiments.use import export, export_predictor, predict

__all__ = [
    "Recipe",
    "Source",
    "evaluate",
    "export",
    "export_predictor",
    "load",
    "predict",
    "prepare",
    "recipe_of",
    "save",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}"
    )


def __dir__() -> list[str]:
    return sorted(__all__)
