"""The models of the papers: functional Keras models, one file each."""

from tfmrc.models.masque import Masque

__all__ = ["Masque"]
