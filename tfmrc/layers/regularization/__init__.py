"""Dropout layers."""

from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.layers.regularization.variational_dropout import VariationalDropout

__all__ = [
    "Dropout",
    "VariationalDropout",
]
