"""Losses as `keras.losses.Loss` objects, so that replicas and sample weights count rightly."""

from tfmrc.losses.position_log_likelihood import PositionLogLikelihood
from tfmrc.losses.sequence_log_likelihood import SequenceLogLikelihood
from tfmrc.losses.sequence_mean import SequenceMean
from tfmrc.losses.smoothed_binary_crossentropy import SmoothedBinaryCrossentropy

__all__ = [
    "PositionLogLikelihood",
    "SequenceLogLikelihood",
    "SequenceMean",
    "SmoothedBinaryCrossentropy",
]
