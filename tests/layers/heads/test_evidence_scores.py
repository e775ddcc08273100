"""Scores of evidence in float64, with padding and a row of padding alone."""

import numpy as np
import pytest

from tests.layers.agreement import Compared, arrays
from tfmrc.layers import EvidenceScores
from tfmrc.losses import SmoothedBinaryCrossentropy
from tfmrc.ops.masking import LOG_ZERO

MASK = np.array([[True] * 5, [True] * 3 + [False] * 2, [False] * 5])
LABELS = np.array([[1, 0, 0, 1, 1], [0, 1, 0, 0, 0], [0] * 5], "float32")
X = arrays({"memory": (3, 5, 4)})


def call(layer, x, **more):
    memory = x["memory"]
    return layer(memory, memory, question_mask=MASK, memory_mask=MASK, **more)["evidence"]


@pytest.fixture(scope="module")
def compared():
    return Compared(EvidenceScores(), X, call=call)


def scores(v):
    values = v["memory"] @ v["scores/kernel"][:, 0] + v["scores/bias"][0]
    return np.where(MASK, values, LOG_ZERO)


def test_scores(compared):
    compared.check(lambda v: [scores(v)], real=[MASK])
    assert (np.array(compared.run())[~MASK] == LOG_ZERO).all()


def test_loss(compared):
    """The cross-entropy of the sigmoid of each real word."""
    loss = SmoothedBinaryCrossentropy(positive_label=1.0)
    weights = MASK.astype("float32") * (MASK.size / MASK.sum())

    def reference(v):
        logits = np.where(MASK, scores(v), 0.0)
        rows = np.log1p(np.exp(-np.abs(logits))) + np.maximum(logits, 0) - LABELS * logits
        return np.array([np.sum(rows * MASK) / MASK.sum()])

    def run():
        return loss(LABELS, compared.run(), sample_weight=weights)[None]

    compared.check(reference, run)
