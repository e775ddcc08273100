"""Mistakes whose result would be silently wrong are refused."""

import numpy as np
import pytest

from tfmrc import layers

X = np.ones((1, 2, 4), "float32")
IDS = np.ones((1, 2), "int32")
MASK = np.ones((1, 2), bool)


def lexicon(**options):
    tags = {"pos_ids": IDS} if "num_ner" not in options else {}
    words = {"passage": X, "question": X, "question_mask": np.ones((1, 2), bool)}
    return layers.LexiconEncoding(units=2, **options)(**words, **tags)


def with_state():
    state = np.zeros((1, 2), "float32")
    return layers.BidirectionalLSTM(2)(X, initial_state=(state, state))


def two_steps(module):
    return module(X, X, question_mask=MASK, memory_mask=MASK, num_steps=2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lexicon(), "num_pos=0"),
        (lambda: lexicon(num_ner=3), "num_ner=3"),
        (lambda: layers.WordEmbedding(9, 3)(np.array([[9]])), "from 0 to 8. Received: 9"),
        (with_state, "causal=False"),
        (lambda: layers.BidirectionalLSTM(2)(X, padding_mask=np.ones((1, 3), bool)), "shape"),
        (lambda: layers.ConcatenatedEncoder(blocks=("gru",)), "blocks="),
        (lambda: layers.ConcatenatedEncoder(hidden_dim=5), "hidden_dim=5"),
        (lambda: layers.Dropout(1.0), "Received: rate=1.0"),
        (lambda: two_steps(layers.OneStepAnswer()), "num_steps=2"),
        (lambda: layers.DualAttention()(X, X, MASK, MASK), r"`passages` .*\[B, K, L, d\]"),
        (lambda: layers.DualAttention()(X[None], IDS, MASK, MASK), "`question`.*(1, 2)"),
        (
            lambda: layers.MemoryGeneration(2)(
                X, question=IDS, passage_mask=MASK, question_mask=MASK
            ),
            r"`question` of MemoryGeneration must have the axes \[B, m, h\]",
        ),
        (lambda: layers.TiedSelfAttention()(X[None]), r"`x` .*\[B, n, d\]"),
    ],
)
def test_mistakes_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
