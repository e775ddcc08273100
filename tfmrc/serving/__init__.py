"""Serving: run SavedModels on strings, a small server and its client, files for TF Serving."""

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Client": "client",
    "ExportedPredictor": "saved_model",
    "SavedModel": "signature",
    "Server": "server",
    "write_serving_config": "tf_serving",
}

if TYPE_CHECKING:
    from tfmrc.serving.client import Client
    from tfmrc.serving.saved_model import ExportedPredictor
    from tfmrc.serving.server import Server
    from tfmrc.serving.signature import SavedModel
    from tfmrc.serving.tf_serving import write_serving_config

__all__ = [
    "Client",
    "ExportedPredictor",
    "SavedModel",
    "Server",
    "write_serving_config",
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
