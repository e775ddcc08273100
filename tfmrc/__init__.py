"""tfmrc: machine reading comprehension with Keras 3.

Subpackages are imported on first use, so `import tfmrc` is fast and `tfmrc.models` does not load
TensorFlow if Keras runs on another backend.

Example:

>>> import tfmrc
>>> "models" in dir(tfmrc) and "Predictor" in dir(tfmrc)
True
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_ROOMS = (
    "data",
    "decoding",
    "encoders",
    "evaluation",
    "experiments",
    "integrations",
    "layers",
    "losses",
    "models",
    "ops",
    "predictors",
    "preprocessing",
    "serving",
    "testing",
    "text",
    "training",
)
_OBJECTS = {
    "Example": "tfmrc.data",
    "Predictor": "tfmrc.predictors",
    "load": "tfmrc.loading",
    "pipeline": "tfmrc.pipelines",
}

if TYPE_CHECKING:
    from tfmrc import (
        data,
        decoding,
        encoders,
        evaluation,
        experiments,
        integrations,
        layers,
        losses,
        models,
        ops,
        predictors,
        preprocessing,
        testing,
        training,
    )
    from tfmrc.data import Example
    from tfmrc.loading import load
    from tfmrc.pipelines import pipeline
    from tfmrc.predictors import Predictor

__all__ = [
    "Example",
    "Predictor",
    "__version__",
    "data",
    "decoding",
    "encoders",
    "evaluation",
    "experiments",
    "integrations",
    "layers",
    "load",
    "losses",
    "models",
    "ops",
    "pipeline",
    "predictors",
    "preprocessing",
    "serving",
    "testing",
    "text",
    "training",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _OBJECTS:
        return getattr(importlib.import_module(_OBJECTS[name]), name)
    raise AttributeError(f"module 'tfmrc' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
