"""What a user brings pre-trained: word vectors from files."""

from tfmrc.embeddings.vectors import read_vectors, set_vectors

__all__ = ["read_vectors", "set_vectors"]
