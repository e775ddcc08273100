"""Text processing by graph operations: tokenizer, vocabulary, subwords, ids and strings."""

from tfmrc.text.detokenize import join_words
from tfmrc.text.subwords import Subwords, SubwordTokenizer
from tfmrc.text.tokenizer import Tokenizer, Tokens
from tfmrc.text.vocabulary import Vocabulary
