"""Serving: run SavedModels on strings, a small server and its client, files for TF Serving."""

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Client": "client",
    "Server": "server",
    "answer_from_export": "saved_model",
    "ask_from_export": "saved_model",
    "write_serving_config": "tf_serving",
}

if TYPE_CHECKING:
    from tfmrc.serving.client import Client
    from tfmrc.serving.saved_model import answer_from_export, ask_from_export
    from tfmrc.serving.server import Server
    from tfmrc.serving.tf_serving import write_serving_config

__all__ = [
    "Client",
    "Server",
    "answer_from_export",
    "ask_from_export",
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
