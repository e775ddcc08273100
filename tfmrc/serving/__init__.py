"""Readers: answers from strings, SavedModels, a small server and its client."""

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Answer": "answer",
    "Asked": "written",
    "Asker": "asker",
    "Client": "client",
    "DecodingOptions": "options",
    "DualReader": "dual_reader",
    "MasqueRanker": "rankers",
    "Reader": "reader",
    "Server": "server",
    "SpanAnswer": "span_answer",
    "SpanOptions": "options",
    "SpanReader": "span_reader",
    "TfIdfRanker": "rankers",
    "Word": "answer",
    "Written": "written",
    "answer_from_export": "saved_model",
    "ask_from_export": "saved_model",
    "ensemble_reader": "span_ensemble",
    "export_saved_model": "export",
    "load_reader": "loading",
    "make_asking": "asking",
    "make_dual_reading": "dual_reading",
    "make_reading": "reading",
    "make_span_reading": "span_reading",
    "write_serving_config": "tf_serving",
}

if TYPE_CHECKING:
    from tfmrc.serving.answer import Answer, Word
    from tfmrc.serving.asker import Asker
    from tfmrc.serving.asking import make_asking
    from tfmrc.serving.client import Client
    from tfmrc.serving.dual_reader import DualReader
    from tfmrc.serving.dual_reading import make_dual_reading
    from tfmrc.serving.export import export_saved_model
    from tfmrc.serving.loading import load_reader
    from tfmrc.serving.options import DecodingOptions, SpanOptions
    from tfmrc.serving.rankers import MasqueRanker, TfIdfRanker
    from tfmrc.serving.reader import Reader
    from tfmrc.serving.reading import make_reading
    from tfmrc.serving.saved_model import answer_from_export, ask_from_export
    from tfmrc.serving.server import Server
    from tfmrc.serving.span_answer import SpanAnswer
    from tfmrc.serving.span_ensemble import ensemble_reader
    from tfmrc.serving.span_reader import SpanReader
    from tfmrc.serving.span_reading import make_span_reading
    from tfmrc.serving.tf_serving import write_serving_config
    from tfmrc.serving.written import Asked, Written

__all__ = [
    "Answer",
    "Asked",
    "Asker",
    "Client",
    "DecodingOptions",
    "DualReader",
    "MasqueRanker",
    "Reader",
    "Server",
    "SpanAnswer",
    "SpanOptions",
    "SpanReader",
    "TfIdfRanker",
    "Word",
    "Written",
    "answer_from_export",
    "ask_from_export",
    "ensemble_reader",
    "export_saved_model",
    "load_reader",
    "make_asking",
    "make_dual_reading",
    "make_reading",
    "make_span_reading",
    "write_serving_config",
]


def __getattr__(name: str) -> Any:
    """Imports a name's module when it is first used: the client needs no TensorFlow."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
