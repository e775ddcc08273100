"""Vectors of texts: near in meaning, whatever else is encoded with them."""

import numpy as np

from tfmrc.documents.vectors import encode

OWL = "An owl flew over the mill at night."


def test_texts_of_one_meaning_are_near():
    texts = [OWL, "A bird was flying in the dark.", "Taxes were raised in 1822.", ""]
    vectors = encode(texts).astype(np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=2e-3)
    bird, taxes, nothing = vectors[1:] @ vectors[0]
    assert bird > max(taxes, nothing) + 0.2


def test_a_text_alone_has_the_vector_that_it_has_among_others():
    [alone] = encode([OWL])
    *_, together = encode(["Owls. " * 300, "Mice.", OWL])
    np.testing.assert_allclose(alone, together, atol=2e-3)
