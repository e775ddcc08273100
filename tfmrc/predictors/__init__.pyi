from .base import Predictor as Predictor
from .calibration import Calibration as Calibration
from .daanet import DAANetPredictor as DAANetPredictor
from .evidence_reader import EvidenceReaderPredictor as EvidenceReaderPredictor
from .exported.errors import RequestError as RequestError
from .exported.predictor import ExportedPredictor as ExportedPredictor
from .exported.signature import SavedModel as SavedModel
from .extractive_reader import ExtractiveReaderPredictor as ExtractiveReaderPredictor
from .hugging_face.folder import (
    load_hugging_face as load_hugging_face,
    save_hugging_face as save_hugging_face,
)
from .hugging_face.question_answering import QuestionAnsweringPipeline as QuestionAnsweringPipeline
from .masque import MasquePredictor as MasquePredictor
from .maxout_pointer_qg import MaxoutPointerQGPredictor as MaxoutPointerQGPredictor
from .options import (
    DecodingOptions as DecodingOptions,
    EvidenceOptions as EvidenceOptions,
    QuestionOptions as QuestionOptions,
    ReaderOptions as ReaderOptions,
    SpanOptions as SpanOptions,
)
from .registry import find_predictor_class as find_predictor_class
from .results.generated import GeneratedText as GeneratedText, Word as Word
from .results.result import Result as Result
from .san import SANPredictor as SANPredictor
from .spans.ensemble import ensemble_predictor as ensemble_predictor
from .spans.rankers import MasqueRanker as MasqueRanker, TfIdfRanker as TfIdfRanker
from .spans.span_answer import SpanAnswer as SpanAnswer
from .task import Query as Query, Task as Task
