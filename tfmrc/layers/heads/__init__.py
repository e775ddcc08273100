"""Output layers: answers, relevance, copying."""

from tfmrc.layers.heads.answer_module import AnswerModule
from tfmrc.layers.heads.answer_possibility import AnswerPossibility
from tfmrc.layers.heads.copy_switch import CopySwitch
from tfmrc.layers.heads.maxout_pointer import MaxoutPointer
from tfmrc.layers.heads.passage_ranker import PassageRanker
from tfmrc.layers.heads.pointer_generator import PointerGenerator
from tfmrc.layers.heads.source_vocabulary import SourceVocabulary
from tfmrc.layers.heads.stochastic_answer import (
    AveragedAnswer,
    LastStepAnswer,
    OneStepAnswer,
    ReasoNetAnswer,
    StochasticAnswer,
)

__all__ = [
    "AnswerModule",
    "AnswerPossibility",
    "AveragedAnswer",
    "CopySwitch",
    "LastStepAnswer",
    "MaxoutPointer",
    "OneStepAnswer",
    "PassageRanker",
    "PointerGenerator",
    "ReasoNetAnswer",
    "SourceVocabulary",
    "StochasticAnswer",
]
