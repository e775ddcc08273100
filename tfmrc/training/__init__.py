"""Schedules, the optimizer, moving averages, resuming, strategies and ensembles."""

from tfmrc.training import replicas
from tfmrc.training.optimizer import AdamW
from tfmrc.training.schedule import WarmupCosine

__all__ = ["AdamW", "WarmupCosine"]

replicas.register()
