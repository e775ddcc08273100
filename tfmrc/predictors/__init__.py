"""Predictors: a model and its preprocessor as one object, strings in, answers or questions out."""

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Answer": "answer",
    "DAANetPredictor": "daanet",
    "DecodingOptions": "options",
    "GeneratedQuestion": "generated",
    "GeneratedText": "generated",
    "MasquePredictor": "masque",
    "MasqueRanker": "rankers",
    "MaxoutPointerQGPredictor": "maxout_pointer_qg",
    "Predictor": "base",
    "SANPredictor": "san",
    "SpanAnswer": "span_answer",
    "SpanOptions": "options",
    "TfIdfRanker": "rankers",
    "Word": "answer",
    "daanet_signatures": "daanet_signature",
    "ensemble_predictor": "ensemble",
    "export_saved_model": "export",
    "load_predictor": "loading",
    "masque_signature": "masque_signature",
    "maxout_pointer_qg_signatures": "maxout_pointer_qg_signature",
    "san_signature": "san_signature",
}

if TYPE_CHECKING:
    from tfmrc.predictors.answer import Answer, Word
    from tfmrc.predictors.base import Predictor
    from tfmrc.predictors.daanet import DAANetPredictor
    from tfmrc.predictors.daanet_signature import daanet_signatures
    from tfmrc.predictors.ensemble import ensemble_predictor
    from tfmrc.predictors.export import export_saved_model
    from tfmrc.predictors.generated import GeneratedQuestion, GeneratedText
    from tfmrc.predictors.loading import load_predictor
    from tfmrc.predictors.masque import MasquePredictor
    from tfmrc.predictors.masque_signature import masque_signature
    from tfmrc.predictors.maxout_pointer_qg import MaxoutPointerQGPredictor
    from tfmrc.predictors.maxout_pointer_qg_signature import maxout_pointer_qg_signatures
    from tfmrc.predictors.options import DecodingOptions, SpanOptions
    from tfmrc.predictors.rankers import MasqueRanker, TfIdfRanker
    from tfmrc.predictors.san import SANPredictor
    from tfmrc.predictors.san_signature import san_signature
    from tfmrc.predictors.span_answer import SpanAnswer

__all__ = [
    "Answer",
    "DAANetPredictor",
    "DecodingOptions",
    "GeneratedQuestion",
    "GeneratedText",
    "MasquePredictor",
    "MasqueRanker",
    "MaxoutPointerQGPredictor",
    "Predictor",
    "SANPredictor",
    "SpanAnswer",
    "SpanOptions",
    "TfIdfRanker",
    "Word",
    "daanet_signatures",
    "ensemble_predictor",
    "export_saved_model",
    "load_predictor",
    "masque_signature",
    "maxout_pointer_qg_signatures",
    "san_signature",
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
