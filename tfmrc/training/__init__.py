"""Schedules, the optimizer, moving averages, resuming, strategies and ensembles."""

from tfmrc.training import replicas
from tfmrc.training.loss_scale import LossScale
from tfmrc.training.optimizer import AdamW
from tfmrc.training.recipe import masque
from tfmrc.training.schedule import WarmupCosine
from tfmrc.training.strategies import check_batch_size, mirrored

__all__ = ["AdamW", "LossScale", "WarmupCosine", "check_batch_size", "masque", "mirrored"]

replicas.register()
