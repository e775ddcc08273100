"""Losses as `keras.losses.Loss` objects, which handle replicas and sample weights correctly."""

from tfmrc.losses.sequence_mean import SequenceMean
from tfmrc.losses.sequence_nll import SequenceNLL
from tfmrc.losses.smoothed_binary_crossentropy import SmoothedBinaryCrossentropy
from tfmrc.losses.span_position_nll import SpanPositionNLL
