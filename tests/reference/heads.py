"""Masque's ranker and its classifier of answerable questions."""

import numpy as np

from tests.reference.basic import Array, sigmoid


def relevance_logits(passages: Array, w: Array) -> Array:
    """The inside of masque-11: `w . M_p[k, 0]` of `passages` [K, L, d]."""
    return np.array([np.asarray(passage, np.float64)[0] @ w for passage in passages])


def relevance(passages: Array, w: Array) -> Array:
    """masque-11: `beta_k = sigmoid(w . M_p[k, 0])`."""
    return sigmoid(relevance_logits(passages, w))


def possibility_logit(passages: Array, present: Array, w: Array) -> float:
    """The inside of masque-12: `w . [M_p[1, 0]; ...; M_p[K, 0]]`, zeros for a missing passage."""
    first = [
        np.asarray(passage, np.float64)[0] if there else np.zeros(passage.shape[-1])
        for passage, there in zip(passages, present, strict=True)
    ]
    return float(np.concatenate(first) @ w)


def possibility(passages: Array, present: Array, w: Array) -> float:
    """masque-12: `P(a)`."""
    return float(sigmoid(np.array(possibility_logit(passages, present, w))))
