"""Prediction, reference and metrics files."""

from tfmrc.evaluation.files.metrics_files import OverSeeds, over_seeds, read_metrics
from tfmrc.evaluation.files.official import read_answers, write_official
from tfmrc.evaluation.files.predicting import PredictionSource, write_predictions
from tfmrc.evaluation.files.predictions import Prediction, PredictionWriter, read_predictions
from tfmrc.evaluation.files.references import Reference, read_references

__all__ = [
    "OverSeeds",
    "Prediction",
    "PredictionSource",
    "PredictionWriter",
    "Reference",
    "over_seeds",
    "read_answers",
    "read_metrics",
    "read_predictions",
    "read_references",
    "write_official",
    "write_predictions",
]
