"""Pretrained word vectors: `word_vectors` has them and fills embeddings, `files` loads them."""
