from .detokenize import join_words as join_words
from .subwords import Subwords as Subwords, SubwordTokenizer as SubwordTokenizer
from .tokenizer import Tokenizer as Tokenizer, Tokens as Tokens
from .vocabulary import Vocabulary as Vocabulary
