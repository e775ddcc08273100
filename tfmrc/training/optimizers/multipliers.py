"""Factors of the learning rate per variable."""

from tfmrc.training.optimizers.mixin import LearningRateMultipliers

__all__ = ["LearningRateMultipliers"]
