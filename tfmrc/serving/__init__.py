"""Serving: SavedModels on strings, a small server and its client, files for TF Serving."""

from typing import TYPE_CHECKING

from tfmrc.lazy import lazy_imports

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

__getattr__, __dir__ = lazy_imports(__name__, _HOMES)
