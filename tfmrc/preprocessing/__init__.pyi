from .base import Preprocessor as Preprocessor
from .daanet import DAANetPreprocessor as DAANetPreprocessor
from .extractive_reader import ExtractiveReaderPreprocessor as ExtractiveReaderPreprocessor
from .masque import MasquePreprocessor as MasquePreprocessor
from .maxout_pointer_qg import MaxoutPointerQGPreprocessor as MaxoutPointerQGPreprocessor
from .san import SANPreprocessor as SANPreprocessor
