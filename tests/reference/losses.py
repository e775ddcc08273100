"""Masque's three losses on plain numbers (masque-22 to masque-25)."""

import math
from collections.abc import Sequence

import numpy as np

from tests.reference.basic import Array


def decoder(log_probabilities: Sequence[Sequence[float]], answerable: Sequence[bool]) -> float:
    """masque-23: minus the mean over an answer's words, then over the answerable examples.

    `log_probabilities[n]` holds the words of answer n and nothing else (no padding).
    """
    each = [
        -sum(words) / len(words)
        for words, able in zip(log_probabilities, answerable, strict=True)
        if able
    ]
    return sum(each) / len(each) if each else 0.0


def crossentropy(label: float, logit: float, positive: float = 0.9) -> float:
    """Binary cross-entropy of `sigmoid(logit)`; a label of one becomes `positive`."""
    target = positive if label == 1 else float(label)
    log_yes = -math.log1p(math.exp(-logit)) if logit > -700 else logit
    log_no = -math.log1p(math.exp(logit)) if logit < 700 else -logit
    return -(target * log_yes + (1.0 - target) * log_no)


def ranker(
    relevance: Array, logits: Array, there: Array | None = None, positive: float = 0.9
) -> float:
    """masque-24: mean over all passages that are there. Arrays [N, K]."""
    relevance, logits = np.asarray(relevance), np.asarray(logits)
    there = np.ones(logits.shape, bool) if there is None else np.asarray(there, bool)
    each = [
        crossentropy(relevance[place], logits[place], positive)
        for place in np.ndindex(logits.shape)
        if there[place]
    ]
    return float(np.mean(each)) if each else 0.0


def classifier(
    answerable: Array, logits: Array, known: Array | None = None, positive: float = 0.9
) -> float:
    """masque-25: mean over all examples whose answerability is known. Arrays [N]."""
    known = np.ones(len(logits), bool) if known is None else known
    each = [
        crossentropy(label, logit, positive)
        for label, logit, there in zip(answerable, logits, known, strict=True)
        if there
    ]
    return float(np.mean(each)) if each else 0.0
