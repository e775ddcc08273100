"""Subwords of pretrained encoders, by graph operations, as the package `tokenizers` computes them.

`tokenizer` builds an encoder's sequences and windows from the pieces of words. `pieces` is the base
of `word_pieces` (BERT), `byte_pairs` (RoBERTa) and `unigram_pieces` (SentencePiece), whose model is
in `unigram` and whose rules for characters are in `normalizers` and `precompiled`. `text_pieces`
has the subwords of whole texts with their characters, and `special_tokens` finds `[SEP]` and others
in them.
"""
