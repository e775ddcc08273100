"""Text in the graph: tokeniser with character offsets, vocabulary, features, ids back to strings."""

from tfmrc.text.tokenizer import Tokenizer, Tokens
from tfmrc.text.vocabulary import Vocabulary

__all__ = ["Tokenizer", "Tokens", "Vocabulary"]
