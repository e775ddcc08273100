from .subwords.tokenizer import Subwords as Subwords, SubwordTokenizer as SubwordTokenizer
from .vocabulary import Vocabulary as Vocabulary
from .words.detokenize import join_words as join_words
from .words.tokenizer import Tokenizer as Tokenizer, Tokens as Tokens
