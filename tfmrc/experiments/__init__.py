"""Experiments: from a YAML file to trained, scored and exported models, one function per step.

Nothing heavy is imported before a step runs: reading a YAML file or printing help is instant.
"""

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Evaluation": "settings",
    "Experiment": "settings",
    "Grid": "settings",
    "Source": "settings",
    "Split": "settings",
    "Training": "settings",
    "Vocabulary": "settings",
    "evaluate": "steps.evaluate",
    "export": "steps.export",
    "export_predictor": "steps.export",
    "find_recipe": "recipes",
    "from_mapping": "loading",
    "load": "loading",
    "predict": "steps.predict",
    "prepare": "steps.prepare",
    "save": "loading",
    "train": "steps.train",
}

if TYPE_CHECKING:
    from tfmrc.experiments.loading import from_mapping, load, save
    from tfmrc.experiments.recipes import find_recipe
    from tfmrc.experiments.settings import (
        Evaluation,
        Experiment,
        Grid,
        Source,
        Split,
        Training,
        Vocabulary,
    )
    from tfmrc.experiments.steps.evaluate import evaluate
    from tfmrc.experiments.steps.export import export, export_predictor
    from tfmrc.experiments.steps.predict import predict
    from tfmrc.experiments.steps.prepare import prepare
    from tfmrc.experiments.steps.train import train

__all__ = [
    "Evaluation",
    "Experiment",
    "Grid",
    "Source",
    "Split",
    "Training",
    "Vocabulary",
    "evaluate",
    "export",
    "export_predictor",
    "find_recipe",
    "from_mapping",
    "load",
    "predict",
    "prepare",
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
