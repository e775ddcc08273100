"""Recipes: from a YAML file to a trained, scored and exported model, one function a step.

Nothing heavy is imported before a step runs: reading a YAML file or printing help is instant.
"""

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "Recipe": "settings",
    "Source": "settings",
    "evaluate": "evaluating",
    "export": "using",
    "export_reader": "using",
    "load": "settings",
    "predict": "using",
    "prepare": "preparing",
    "recipe_of": "settings",
    "save": "settings",
    "train": "training",
}

if TYPE_CHECKING:
    from tfmrc.recipe.evaluating import evaluate
    from tfmrc.recipe.preparing import prepare
    from tfmrc.recipe.settings import Recipe, Source, load, recipe_of, save
    from tfmrc.recipe.training import train
    from tfmrc.recipe.using import export, export_reader, predict

__all__ = [
    "Recipe",
    "Source",
    "evaluate",
    "export",
    "export_reader",
    "load",
    "predict",
    "prepare",
    "recipe_of",
    "save",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
