"""A saved predictor of whatever kind."""

import importlib
from os import PathLike
from typing import Any

from tfmrc.predictors.base import Predictor
from tfmrc.predictors.storage import load_parts

__all__ = ["load_predictor"]

READERS = {
    "MaxoutPointerQGPreprocessor": "predictor.MaxoutPointerQGPredictor",
    "DAANetPreprocessor": "dual_reader.DAANetPredictor",
}


def load_predictor(folder: str | PathLike[str]) -> Any:
    """Loads what any predictor's `save_to` saved, as the predictor that its preprocessor are for.

    Args:
        folder: the predictor's folder.

    Returns:
        A `tfmrc.predictors.MasquePredictor`, `SANPredictor`, `MaxoutPointerQGPredictor` or `DAANetPredictor`.

    Raises:
        FileNotFoundError, ValueError: as `MasquePredictor.load`.
    """
    model, preprocessor, metrics = load_parts(folder)
    home, name = READERS.get(type(preprocessor).__name__, "predictor.MasquePredictor").split(".")
    kind = getattr(importlib.import_module(f"tfmrc.serving.{home}"), name)
    predictor: Predictor = kind(model, preprocessor)
    predictor.metrics = metrics
    return predictor
