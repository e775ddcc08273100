"""Text in the graph: tokenizer with offsets, vocabulary, extended ids, ids back to strings."""

from tfmrc.text.detokenize import join_words
from tfmrc.text.tokenizer import Tokenizer, Tokens
from tfmrc.text.vocabulary import Vocabulary

__all__ = ["Tokenizer", "Tokens", "Vocabulary", "join_words"]
