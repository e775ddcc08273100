"""The models of the papers: functional Keras models, one file each."""

from tfmrc.models.base import Model
from tfmrc.models.daanet import DAANet
from tfmrc.models.evidence_reader import EvidenceReader
from tfmrc.models.extractive_reader import ExtractiveReader
from tfmrc.models.generation import GenerationMixin
from tfmrc.models.masque import Masque
from tfmrc.models.maxout_pointer_qg import MaxoutPointerQG
from tfmrc.models.san import SAN
from tfmrc.models.span_ensemble import ReaderEnsemble, SpanEnsemble
