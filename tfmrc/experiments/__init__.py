"""Experiments: from a YAML file to trained, scored and exported models, one function per step.

Nothing heavy is imported before a step runs: reading a YAML file or printing help is instant.
"""

from typing import TYPE_CHECKING

from tfmrc.lazy import lazy_imports

_HOMES = {
    "Evaluation": "settings",
    "Experiment": "settings",
    "Grid": "settings",
    "Source": "settings",
    "Split": "settings",
    "Training": "settings",
    "Vocabulary": "settings",
    "evaluate": "steps.evaluate",
    "evaluate_with": "steps.evaluate_saved",
    "export": "steps.export",
    "export_predictor": "steps.export",
    "find_recipe": "recipes",
    "first_look": "steps.first_look",
    "from_mapping": "loading",
    "init": "steps.init",
    "load": "loading",
    "predict": "steps.predict",
    "predict_with": "steps.predict",
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
    from tfmrc.experiments.steps.evaluate_saved import evaluate_with
    from tfmrc.experiments.steps.export import export, export_predictor
    from tfmrc.experiments.steps.first_look import first_look
    from tfmrc.experiments.steps.init import init
    from tfmrc.experiments.steps.predict import predict, predict_with
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
    "evaluate_with",
    "export",
    "export_predictor",
    "find_recipe",
    "first_look",
    "from_mapping",
    "init",
    "load",
    "predict",
    "predict_with",
    "prepare",
    "save",
    "train",
]

__getattr__, __dir__ = lazy_imports(__name__, _HOMES)
