"""Subwords: WordPiece, byte pairs and Unigram, as the package `tokenizers` computes them."""
