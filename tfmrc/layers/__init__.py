"""Keras layers of machine reading, one a file. They import Keras and NumPy alone."""

from tfmrc.layers.additive_attention import AdditiveAttention
from tfmrc.layers.aligned_embedding import AlignedEmbedding
from tfmrc.layers.answer_module import AnswerModule
from tfmrc.layers.answer_possibility import AnswerPossibility
from tfmrc.layers.answer_tagging import AnswerTagging
from tfmrc.layers.bidirectional_lstm import BidirectionalLSTM
from tfmrc.layers.character_embedding import CharacterEmbedding
from tfmrc.layers.concatenated_encoder import ConcatenatedEncoder
from tfmrc.layers.copy_switch import CopySwitch
from tfmrc.layers.decoder_block import RecurrentDecoderBlock, TransformerDecoderBlock
from tfmrc.layers.dropout import Dropout
from tfmrc.layers.dual_attention import DualAttention
from tfmrc.layers.encoder_block import RecurrentEncoderBlock, TransformerEncoderBlock
from tfmrc.layers.feed_forward import FeedForward
from tfmrc.layers.gated_self_attention import GatedSelfAttention
from tfmrc.layers.highway import Highway
from tfmrc.layers.input_feeding_decoder import InputFeedingDecoder
from tfmrc.layers.lexicon_encoding import LexiconEncoding
from tfmrc.layers.linear import linear
from tfmrc.layers.local_context import LocalContext
from tfmrc.layers.luong_attention import LuongAttention
from tfmrc.layers.maxout_pointer import MaxoutPointer
from tfmrc.layers.memory_generation import MemoryGeneration
from tfmrc.layers.multi_head_attention import MultiHeadAttention
from tfmrc.layers.multiplicative_attention import MultiplicativeAttention
from tfmrc.layers.passage_ranker import PassageRanker
from tfmrc.layers.pointer_generator import PointerGenerator
from tfmrc.layers.positions import Positions
from tfmrc.layers.recurrent_stack import RecurrentStack
from tfmrc.layers.residual import Residual
from tfmrc.layers.source_vocabulary import SourceVocabulary
from tfmrc.layers.stochastic_answer import (
    AveragedAnswer,
    LastStepAnswer,
    OneStepAnswer,
    ReasoNetAnswer,
    StochasticAnswer,
)
from tfmrc.layers.tied_self_attention import TiedSelfAttention
from tfmrc.layers.variational_dropout import VariationalDropout
from tfmrc.layers.word_embedding import WordEmbedding

__all__ = [
    "CopySwitch",
    "MultiplicativeAttention",
    "ConcatenatedEncoder",
    "TiedSelfAttention",
    "CharacterEmbedding",
    "AdditiveAttention",
    "AlignedEmbedding",
    "AnswerModule",
    "AnswerPossibility",
    "AveragedAnswer",
    "BidirectionalLSTM",
    "AnswerTagging",
    "Dropout",
    "DualAttention",
    "FeedForward",
    "GatedSelfAttention",
    "Highway",
    "LastStepAnswer",
    "LexiconEncoding",
    "LocalContext",
    "MemoryGeneration",
    "InputFeedingDecoder",
    "LuongAttention",
    "MaxoutPointer",
    "MultiHeadAttention",
    "OneStepAnswer",
    "PassageRanker",
    "PointerGenerator",
    "Positions",
    "ReasoNetAnswer",
    "RecurrentDecoderBlock",
    "RecurrentEncoderBlock",
    "RecurrentStack",
    "Residual",
    "SourceVocabulary",
    "StochasticAnswer",
    "TransformerDecoderBlock",
    "TransformerEncoderBlock",
    "VariationalDropout",
    "WordEmbedding",
    "linear",
]
