"""Predictors: a model and its preprocessor as one object, strings in, answers or questions out."""

from typing import TYPE_CHECKING

from tfmrc.lazy import lazy_imports

_HOMES = {
    "Answer": "answer",
    "DAANetPredictor": "daanet",
    "DamagedError": "manifest",
    "DecodingOptions": "options",
    "ExtractiveReaderPredictor": "extractive_reader",
    "GeneratedQuestion": "generated",
    "GeneratedText": "generated",
    "MasquePredictor": "masque",
    "MasqueRanker": "rankers",
    "MaxoutPointerQGPredictor": "maxout_pointer_qg",
    "Predictor": "base",
    "Query": "task",
    "QuestionAnsweringPipeline": "question_answering",
    "QuestionOptions": "options",
    "ReaderOptions": "options",
    "Result": "result",
    "SANPredictor": "san",
    "SpanAnswer": "span_answer",
    "SpanOptions": "options",
    "Task": "task",
    "TfIdfRanker": "rankers",
    "Word": "answer",
    "daanet_signatures": "daanet",
    "ensemble_predictor": "ensemble",
    "export_saved_model": "export",
    "find_predictor_class": "registry",
    "load_hugging_face": "hugging_face",
    "masque_signature": "masque",
    "maxout_pointer_qg_signatures": "maxout_pointer_qg",
    "san_signature": "san",
    "save_hugging_face": "hugging_face",
    "verify": "manifest",
}

if TYPE_CHECKING:
    from tfmrc.predictors.answer import Answer, Word
    from tfmrc.predictors.base import Predictor
    from tfmrc.predictors.daanet import DAANetPredictor, daanet_signatures
    from tfmrc.predictors.ensemble import ensemble_predictor
    from tfmrc.predictors.export import export_saved_model
    from tfmrc.predictors.extractive_reader import ExtractiveReaderPredictor
    from tfmrc.predictors.generated import GeneratedQuestion, GeneratedText
    from tfmrc.predictors.hugging_face import load_hugging_face, save_hugging_face
    from tfmrc.predictors.manifest import DamagedError, verify
    from tfmrc.predictors.masque import MasquePredictor, masque_signature
    from tfmrc.predictors.maxout_pointer_qg import (
        MaxoutPointerQGPredictor,
        maxout_pointer_qg_signatures,
    )
    from tfmrc.predictors.options import (
        DecodingOptions,
        QuestionOptions,
        ReaderOptions,
        SpanOptions,
    )
    from tfmrc.predictors.question_answering import QuestionAnsweringPipeline
    from tfmrc.predictors.rankers import MasqueRanker, TfIdfRanker
    from tfmrc.predictors.registry import find_predictor_class
    from tfmrc.predictors.result import Result
    from tfmrc.predictors.san import SANPredictor, san_signature
    from tfmrc.predictors.span_answer import SpanAnswer
    from tfmrc.predictors.task import Query, Task

__all__ = [
    "Answer",
    "DAANetPredictor",
    "DamagedError",
    "DecodingOptions",
    "ExtractiveReaderPredictor",
    "GeneratedQuestion",
    "GeneratedText",
    "MasquePredictor",
    "MasqueRanker",
    "MaxoutPointerQGPredictor",
    "Predictor",
    "Query",
    "QuestionAnsweringPipeline",
    "QuestionOptions",
    "ReaderOptions",
    "Result",
    "SANPredictor",
    "SpanAnswer",
    "SpanOptions",
    "Task",
    "TfIdfRanker",
    "Word",
    "daanet_signatures",
    "ensemble_predictor",
    "export_saved_model",
    "find_predictor_class",
    "load_hugging_face",
    "masque_signature",
    "maxout_pointer_qg_signatures",
    "san_signature",
    "save_hugging_face",
    "verify",
]

__getattr__, __dir__ = lazy_imports(__name__, _HOMES)
