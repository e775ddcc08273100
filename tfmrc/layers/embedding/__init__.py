"""Embedding layers."""

from tfmrc.layers.embedding.aligned_embedding import AlignedEmbedding
from tfmrc.layers.embedding.answer_tag_embedding import AnswerTagEmbedding
from tfmrc.layers.embedding.character_embedding import CharacterEmbedding
from tfmrc.layers.embedding.lexicon_encoding import LexiconEncoding
from tfmrc.layers.embedding.position_embedding import PositionEmbedding
from tfmrc.layers.embedding.word_embedding import WordEmbedding

__all__ = [
    "AlignedEmbedding",
    "AnswerTagEmbedding",
    "CharacterEmbedding",
    "LexiconEncoding",
    "PositionEmbedding",
    "WordEmbedding",
]
