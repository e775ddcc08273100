"""Serving: SavedModels on strings, a server and its clients, files for TensorFlow Serving."""

from typing import TYPE_CHECKING

from tfmrc.lazy import lazy_imports

_HOMES = {
    "AsyncClient": "client",
    "BatchingOptions": "batching_options",
    "Client": "client",
    "ExportedPredictor": "saved_model",
    "Limits": "limits",
    "ModelConfig": "model_config",
    "Profile": "profiling",
    "RequestError": "errors",
    "SavedModel": "signature",
    "Server": "server",
    "profile": "profiling",
    "write_serving_config": "tf_serving",
}

if TYPE_CHECKING:
    from tfmrc.serving.batching_options import BatchingOptions
    from tfmrc.serving.client import AsyncClient, Client
    from tfmrc.serving.errors import RequestError
    from tfmrc.serving.limits import Limits
    from tfmrc.serving.model_config import ModelConfig
    from tfmrc.serving.profiling import Profile, profile
    from tfmrc.serving.saved_model import ExportedPredictor
    from tfmrc.serving.server import Server
    from tfmrc.serving.signature import SavedModel
    from tfmrc.serving.tf_serving import write_serving_config

__all__ = [
    "AsyncClient",
    "BatchingOptions",
    "Client",
    "ExportedPredictor",
    "Limits",
    "ModelConfig",
    "Profile",
    "RequestError",
    "SavedModel",
    "Server",
    "profile",
    "write_serving_config",
]

__getattr__, __dir__ = lazy_imports(__name__, _HOMES)
