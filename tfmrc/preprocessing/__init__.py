"""Preprocessors: strings to model inputs and back, in graph operations; one per paper."""

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "DAANetPreprocessor": "daanet",
    "MasquePreprocessor": "masque",
    "MaxoutPointerQGPreprocessor": "maxout_pointer_qg",
    "Preprocessor": "base",
    "SANPreprocessor": "san",
}

if TYPE_CHECKING:
    from tfmrc.preprocessing.base import Preprocessor
    from tfmrc.preprocessing.daanet import DAANetPreprocessor
    from tfmrc.preprocessing.masque import MasquePreprocessor
    from tfmrc.preprocessing.maxout_pointer_qg import MaxoutPointerQGPreprocessor
    from tfmrc.preprocessing.san import SANPreprocessor

__all__ = [
    "DAANetPreprocessor",
    "MasquePreprocessor",
    "MaxoutPointerQGPreprocessor",
    "Preprocessor",
    "SANPreprocessor",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}"
    )


def __dir__() -> list[str]:
    return sorted(__all__)
