"""What a small encoder reads of texts that are written as numbers.

A word has one or two subwords, the same ones wherever it stands.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.reference.basic import Array
from tfmrc import encoders

CLS, SEP, FIRST, COUNT = 2, 3, 4, 8
DIM = 6


def encoder(**options: Any) -> encoders.Encoder:
    """An encoder of random weights, without dropout."""
    sizes = {"length": 40, "num_layers": 1, "hidden_dim": DIM, "dropout": 0.0}
    return encoders.from_vocabulary(list("abcdefgh"), **{**sizes, **options})


def pieces_of(word: int) -> list[int]:
    return [FIRST + (word + 3 * i) % COUNT for i in range(1 + word % 2)]


def read(
    given: Sequence[Sequence[int]], passages: Sequence[Sequence[int]], width: int
) -> tuple[Array, Array, Array]:
    """One window for each `[CLS] given [SEP] passage [SEP]`.

    Returns:
        ids and segments int32 `[B, 1, P]`, and the passage's pieces int32 `[B, width, 2]`.
    """
    rows, segments = [], []
    pieces = np.zeros((len(passages), width, 2), "int32")
    for row, (before, passage) in enumerate(zip(given, passages, strict=True)):
        ids = [CLS, *(piece for word in before for piece in pieces_of(word)), SEP]
        first = len(ids)
        for place, word in enumerate(passage):
            pieces[row, place] = len(ids), len(pieces_of(word))
            ids += pieces_of(word)
        rows.append([*ids, SEP])
        segments.append([0] * first + [1] * (len(ids) + 1 - first))
    longest = max(map(len, rows))

    def filled(lists: list[list[int]]) -> Array:
        padded = [[*each, *[0] * (longest - len(each))] for each in lists]
        return np.array(padded, "int32")[:, None]

    return filled(rows), filled(segments), pieces
