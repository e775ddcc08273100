"""Preprocessors, one per paper, which convert strings to model inputs by graph operations."""

from typing import TYPE_CHECKING

from tfmrc.lazy import lazy_imports

_HOMES = {
    "DAANetPreprocessor": "daanet",
    "ExtractiveReaderPreprocessor": "extractive_reader",
    "MasquePreprocessor": "masque",
    "MaxoutPointerQGPreprocessor": "maxout_pointer_qg",
    "Preprocessor": "base",
    "SANPreprocessor": "san",
}

if TYPE_CHECKING:
    from tfmrc.preprocessing.base import Preprocessor
    from tfmrc.preprocessing.daanet import DAANetPreprocessor
    from tfmrc.preprocessing.extractive_reader import ExtractiveReaderPreprocessor
    from tfmrc.preprocessing.masque import MasquePreprocessor
    from tfmrc.preprocessing.maxout_pointer_qg import MaxoutPointerQGPreprocessor
    from tfmrc.preprocessing.san import SANPreprocessor

__all__ = [
    "DAANetPreprocessor",
    "ExtractiveReaderPreprocessor",
    "MasquePreprocessor",
    "MaxoutPointerQGPreprocessor",
    "Preprocessor",
    "SANPreprocessor",
]

__getattr__, __dir__ = lazy_imports(__name__, _HOMES)
