"""Vectors of texts, near for a question and a passage that answers it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from tfmrc.documents.document import Passage

DEPTH = 50
"""Passages of each kind that are joined."""
WEIGHT = 2.0
"""Of a cosine beside BM25 as a share of the best; chosen on questions of SQuAD's training set."""
WINDOW = 256  # subwords, as in the training of MiniLM's sentences
TOGETHER = 16  # texts, of about the same length


def encode(texts: Sequence[str]) -> np.ndarray:
    """Returns a vector for each text: the mean of MiniLM's vectors of its subwords, normalized.

    The product of two vectors is the cosine of their angle. A text of more than 256 subwords is
    read in windows.

    Args:
        texts: sequence of N str.

    Returns:
        float16 `[N, 384]`.

    Reference: Reimers and Gurevych 2019, "Sentence-BERT", section 3 (the mean).
    """
    function, dim = _encoder()
    vectors = np.zeros([len(texts), dim], np.float16)
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    for first in range(0, len(order), TOGETHER):
        rows = order[first : first + TOGETHER]
        vectors[rows] = function(np.array([texts[row] for row in rows], object)).numpy()
    return vectors


@cache
def _encoder() -> tuple[Any, int]:
    """Returns the function from strings `[N]` to vectors, and their size."""
    import tensorflow as tf

    from tfmrc import encoders
    from tfmrc.text.subwords.tokenizer import Subwords

    encoder = encoders.from_preset("minilm", length=WINDOW, overlap=0)
    layer, subwords = encoder.layer, encoder.subwords

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def vectors(texts: tf.Tensor) -> tf.Tensor:
        pieces = subwords.tokenize(texts).ids.to_tensor(-1)  # [N, T]
        real = tf.cast(pieces >= 0, tf.int32)
        ids = subwords.separate(Subwords(tf.maximum(pieces, 0), real))["encoder_ids"]  # [N, W, P]
        total = tf.reduce_sum(layer(ids), axis=1)  # [N, dim], with zeros at padding
        return tf.cast(tf.math.l2_normalize(total, axis=1), tf.float16)

    return vectors, layer.dim


def join(lexical: Sequence[Passage], near: Sequence[Passage], k: int) -> list[Passage]:
    """Returns the k best passages: by BM25, as a share of the best, plus twice the cosine.

    Args:
        lexical: sequence of `Passage`. The best ones, with BM25 scores.
        near: sequence of `Passage`. The nearest ones, with cosines; other passages count as the
            last of them.
        k: int. Largest number of passages.

    Example:

    >>> owl, elk, cat = (Passage(text=text, start=0, end=3) for text in ("owl", "elk", "cat"))
    >>> lexical = [replace(owl, score=8.0), replace(elk, score=6.0)]
    >>> near = [replace(elk, score=0.75), replace(cat, score=0.5)]
    >>> [(passage.text, passage.score) for passage in join(lexical, near, 2)]
    [('elk', 2.25), ('owl', 2.0)]
    """
    shares = {each.text: each.score / lexical[0].score for each in lexical}
    cosines = {each.text: each.score for each in near}
    least = near[-1].score if near else 0.0
    scored = [
        replace(each, score=shares.get(text, 0.0) + WEIGHT * cosines.get(text, least))
        for text, each in {each.text: each for each in (*near, *lexical)}.items()
    ]
    return sorted(scored, key=lambda each: -each.score)[:k]
