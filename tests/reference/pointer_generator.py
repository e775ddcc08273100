"""Masque's multi-source pointer-generator, one example and one step at a time."""

from typing import NamedTuple

import numpy as np

from tests.reference.basic import Array, linear, softmax


def additive_scores(memory: Array, state: Array, weights: dict[str, Array]) -> Array:
    """masque-14: `e_l = w . tanh(W_m M_l + W_s s + b)` over `memory` [N, d]."""
    scores = []
    for row in memory:
        inner = (
            linear(row, weights["memory_kernel"])
            + linear(state, weights["state_kernel"])
            + weights["bias"]
        )
        scores.append(np.tanh(inner) @ np.asarray(weights["score"], np.float64))
    return np.array(scores, np.float64)


def attention(scores: Array, mask: Array) -> Array:
    """masque-15: softmax of the scores of all places together, padding at zero."""
    return softmax(np.asarray(scores).reshape(-1), np.asarray(mask, bool).reshape(-1))


def context(alpha: Array, memory: Array) -> Array:
    """masque-16: `c = sum_l alpha_l M_l`."""
    total = np.zeros(memory.shape[-1])
    for weight, row in zip(alpha, memory, strict=True):
        total += weight * np.asarray(row, np.float64)
    return total


def combined(alpha: Array, beta: Array, num_words: int) -> Array:
    """masque-21: `alpha_l beta_k(l)` over its sum; `alpha` runs over K passages of `num_words`."""
    weighted = np.array([a * beta[place // num_words] for place, a in enumerate(alpha)])
    return weighted / weighted.sum() if weighted.sum() > 0 else weighted


def generation(
    state: Array, kernel: Array, bias: Array, rows: dict[int, Array | None]
) -> dict[int, float]:
    """masque-13: softmax of `W2^T (W1 s + b1)` over the extended vocabulary of one example.

    `rows` maps an extended id to the row of the embedding table of its word, or to None where the
    word has no row: such a word has probability zero and no part in the sum.
    """
    projected = linear(state, kernel, bias)
    known = [word for word, row in rows.items() if row is not None]
    probabilities = softmax(
        np.array([np.asarray(rows[word], np.float64) @ projected for word in known])
    )
    result = dict.fromkeys(rows, 0.0)
    result.update(zip(known, map(float, probabilities), strict=True))
    return result


def copy(alpha: Array, words: Array) -> dict[int, float]:
    """masque-17 and masque-18: the attention on all places of a word, summed for each word."""
    result: dict[int, float] = {}
    for weight, word in zip(alpha, words, strict=True):
        result[int(word)] = result.get(int(word), 0.0) + float(weight)
    return result


def mixture_weights(
    state: Array,
    of_question: Array,
    of_passages: Array,
    kernel: Array,
    bias: Array,
    there: tuple[bool, bool, bool] = (True, True, True),
) -> Array:
    """masque-20: `softmax(W [s; c_q; c_p] + b)` for vocabulary, question and passages.

    A source that has no word to give is left out (`there` False), so that the mixture of what is
    left still adds up to one.
    """
    scores = linear(np.concatenate([state, of_question, of_passages]), kernel, bias)
    return softmax(scores, np.asarray(there, bool))


def mixture(
    weights: Array,
    of_vocabulary: dict[int, float],
    of_question: dict[int, float],
    of_passages: dict[int, float],
) -> dict[int, float]:
    """masque-19: the probability of every extended id, none left out."""
    result: dict[int, float] = {}
    for weight, part in zip(weights, (of_vocabulary, of_question, of_passages), strict=True):
        for word, probability in part.items():
            result[word] = result.get(word, 0.0) + float(weight) * probability
    return result


def extended_vocabulary(
    num_generable: int,
    input_ids: Array,
    extended_ids: Array,
    table: Array,
    num_words: int,
    generable: tuple[int, ...] | None = None,
) -> dict[int, Array | None]:
    """Extended id to embedding row: generable words, then the first occurrences in the source.

    Ids at `num_words` and beyond (rows that unknown words share) and UNK are no row of a word's
    own: the words that have them can be copied only. `generable` restricts the first part.
    """
    words: dict[int, Array | None] = {
        word: table[word] for word in (generable or range(num_generable))
    }
    for place, (word, extended) in enumerate(zip(input_ids, extended_ids, strict=True)):
        if extended == num_generable + place:
            own = num_generable <= word < num_words
            words[int(extended)] = table[word] if own else None
    return words


class Step(NamedTuple):
    """What one decoding step of one example makes."""

    probabilities: dict[int, float]
    mixture: Array
    generation: dict[int, float]
    question_attention: Array
    passage_attention: Array


def step(
    state: Array,
    question: Array,
    question_mask: Array,
    passages: Array,
    passages_mask: Array,
    question_words: Array,
    passage_words: Array,
    rows: dict[int, Array | None],
    beta: Array | None,
    weights: dict[str, dict[str, Array]],
) -> Step:
    """masque-13 to masque-21 for one `state` [d]; `passages` [K, L, d], words as extended ids."""
    flat = passages.reshape(-1, passages.shape[-1])
    alpha_q = attention(additive_scores(question, state, weights["question"]), question_mask)
    alpha_p = attention(additive_scores(flat, state, weights["passages"]), passages_mask)
    if beta is not None:
        alpha_p = combined(alpha_p, beta, passages.shape[1])
    of_vocabulary = generation(state, rows=rows, **weights["generation"])
    of_mixture = mixture_weights(
        state,
        context(alpha_q, question),
        context(alpha_p, flat),
        there=(True, alpha_q.sum() > 0, alpha_p.sum() > 0),
        **weights["mixture"],
    )
    return Step(
        mixture(
            of_mixture,
            of_vocabulary,
            copy(alpha_q, question_words),
            copy(alpha_p, np.asarray(passage_words).reshape(-1)),
        ),
        of_mixture,
        of_vocabulary,
        alpha_q,
        alpha_p,
    )
