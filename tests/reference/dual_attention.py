"""Masque's dual attention, one example at a time and word by word (masque-02 to masque-10)."""

from typing import NamedTuple

import numpy as np

from tests.reference.basic import Array, softmax


class DualAttention(NamedTuple):
    """All that the layer computes for one passage and the question."""

    U: Array  # [L, J]
    A: Array  # [L, J], each row a distribution over the question
    B: Array  # [L, J], each column a distribution over the passage
    A1: Array  # [L, d]
    B1: Array  # [J, d]
    A2: Array  # [L, d]
    B2: Array  # [J, d]
    G: Array  # [L, 5d]


def similarity(passage: Array, question: Array, w: Array) -> Array:
    """masque-02: `U[l, j] = w . [E_p[l]; E_q[j]; E_p[l] * E_q[j]]`."""
    result = np.zeros((len(passage), len(question)))
    for i, p in enumerate(passage):
        for j, q in enumerate(question):
            result[i, j] = np.concatenate([p, q, p * q]) @ w
    return result


def one_passage(
    passage: Array, passage_mask: Array, question: Array, question_mask: Array, w: Array
) -> DualAttention:
    """masque-02 to masque-09 for `passage` [L, d] and `question` [J, d]."""
    passage = np.asarray(passage, np.float64)
    question = np.asarray(question, np.float64)
    passage_mask, question_mask = np.asarray(passage_mask, bool), np.asarray(question_mask, bool)
    u = similarity(passage, question, np.asarray(w, np.float64))
    # masque-03, masque-04: a padded row of A and a padded column of B are never used by a real
    # word; the softmax runs among the real words of the other side.
    a = softmax(u, question_mask[None, :])
    b = softmax(u.T, passage_mask[None, :]).T
    a1 = np.zeros(passage.shape)  # masque-05
    for i in range(len(passage)):
        for j in range(len(question)):
            a1[i] += a[i, j] * question[j]
    b1 = np.zeros(question.shape)  # masque-06
    for j in range(len(question)):
        for i in range(len(passage)):
            b1[j] += b[i, j] * passage[i]
    a2 = np.zeros(passage.shape)  # masque-07
    for i in range(len(passage)):
        for j in range(len(question)):
            a2[i] += a[i, j] * b1[j]
    b2 = np.zeros(question.shape)  # masque-08
    for j in range(len(question)):
        for i in range(len(passage)):
            b2[j] += b[i, j] * a1[i]
    g = np.concatenate([passage, a1, a2, passage * a1, passage * a2], axis=-1)  # masque-09
    return DualAttention(u, a, b, a1, b1, a2, b2, g)


def all_passages(
    passages: Array, passage_mask: Array, question: Array, question_mask: Array, w: Array
) -> tuple[Array, Array]:
    """masque-09 `[K, L, 5d]` and masque-10 `[J, 5d]` of one example.

    The maxima run over the passages that have a word; without any such passage they are zero.
    """
    each = [
        one_passage(passage, mask, question, question_mask, w)
        for passage, mask in zip(passages, passage_mask, strict=True)
    ]
    present = [part for part, mask in zip(each, passage_mask, strict=True) if np.any(mask)]
    question = np.asarray(question, np.float64)
    m1, m2 = np.zeros(question.shape), np.zeros(question.shape)
    if present:
        m1 = np.max([part.B1 for part in present], axis=0)
        m2 = np.max([part.B2 for part in present], axis=0)
    of_question = np.concatenate([question, m1, m2, question * m1, question * m2], axis=-1)
    return np.stack([part.G for part in each]), of_question
