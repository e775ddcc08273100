"""Keras layers for machine reading, for every Keras backend."""

from tfmrc.layers.attention.additive_attention import AdditiveAttention
from tfmrc.layers.attention.dual_attention import DualAttention
from tfmrc.layers.attention.gated_self_attention import GatedSelfAttention
from tfmrc.layers.attention.luong_attention import LuongAttention
from tfmrc.layers.attention.memory_generation import MemoryGeneration
from tfmrc.layers.attention.multi_head_attention import MultiHeadAttention
from tfmrc.layers.attention.multiplicative_attention import MultiplicativeAttention
from tfmrc.layers.attention.tied_self_attention import TiedSelfAttention
from tfmrc.layers.embedding.aligned_embedding import AlignedEmbedding
from tfmrc.layers.embedding.answer_tag_embedding import AnswerTagEmbedding
from tfmrc.layers.embedding.character_embedding import CharacterEmbedding
from tfmrc.layers.embedding.lexicon_encoding import LexiconEncoding
from tfmrc.layers.embedding.position_embedding import PositionEmbedding
from tfmrc.layers.embedding.word_embedding import WordEmbedding
from tfmrc.layers.encoders.bidirectional_lstm import BidirectionalLSTM
from tfmrc.layers.encoders.concatenated_encoder import ConcatenatedEncoder
from tfmrc.layers.encoders.decoder_block import RecurrentDecoderBlock, TransformerDecoderBlock
from tfmrc.layers.encoders.dense import Dense
from tfmrc.layers.encoders.encoder_block import RecurrentEncoderBlock, TransformerEncoderBlock
from tfmrc.layers.encoders.feed_forward import FeedForward
from tfmrc.layers.encoders.highway import Highway
from tfmrc.layers.encoders.input_feeding_decoder import InputFeedingDecoder
from tfmrc.layers.encoders.layer_normalization import LayerNormalization
from tfmrc.layers.encoders.linear import linear
from tfmrc.layers.encoders.local_convolution import LocalConvolution
from tfmrc.layers.encoders.residual import Residual
from tfmrc.layers.encoders.stacked_bilstm import StackedBiLSTM
from tfmrc.layers.heads.answer_module import AnswerModule
from tfmrc.layers.heads.answer_possibility import AnswerPossibility
from tfmrc.layers.heads.copy_switch import CopySwitch
from tfmrc.layers.heads.evidence_scores import EvidenceScores
from tfmrc.layers.heads.linear_answer import LinearAnswer
from tfmrc.layers.heads.maxout_pointer import MaxoutPointer
from tfmrc.layers.heads.passage_ranker import PassageRanker
from tfmrc.layers.heads.pointer_generator import PointerGenerator
from tfmrc.layers.heads.prediction_head import PredictionHead
from tfmrc.layers.heads.source_vocabulary import SourceVocabulary
from tfmrc.layers.heads.stochastic_answer import (
    AveragedAnswer,
    LastStepAnswer,
    OneStepAnswer,
    ReasoNetAnswer,
    StochasticAnswer,
)
from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.layers.regularization.variational_dropout import VariationalDropout
