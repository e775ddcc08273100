"""Text in the graph: tokeniser with offsets, vocabulary, features, ids back to strings."""

from tfmrc.text.daanet_features import DAANetFeatures
from tfmrc.text.detokenize import join_words
from tfmrc.text.features import MasqueFeatures
from tfmrc.text.question_features import QuestionFeatures
from tfmrc.text.san_features import SanFeatures
from tfmrc.text.tokenizer import Tokenizer, Tokens
from tfmrc.text.vocabulary import Vocabulary

__all__ = [
    "DAANetFeatures",
    "MasqueFeatures",
    "QuestionFeatures",
    "SanFeatures",
    "Tokenizer",
    "Tokens",
    "Vocabulary",
    "join_words",
]
