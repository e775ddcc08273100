"""Question generation with a maxout pointer, one word at a time, in float64."""

import math
from typing import NamedTuple

import numpy as np

from tests.reference.basic import Array, sigmoid

PAD, BOS = 0, 2


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def self_attention(u: Array, real: Array, t: int, w_s: Array) -> Array:
    """qg-02: how word t sees the words of one passage `u` [M, d]; zeros at padding."""
    weights = np.zeros(len(u))
    places = [k for k in range(len(u)) if real[k]]
    if places:
        weights[places] = softmax(np.array([u[k] @ w_s @ u[t] for k in places]))
    return weights


def gated(u: Array, real: Array, w_s: Array, w_f: Array, w_g: Array) -> Array:
    """qg-03 to qg-06 for the words of one passage; `w_f`, `w_g` [d, 2d]."""
    result = np.zeros(u.shape)
    for t in range(len(u)):
        s = self_attention(u, real, t, w_s) @ u
        both = np.concatenate([u[t], s])
        f, g = np.tanh(w_f @ both), sigmoid(w_g @ both)
        result[t] = g * f + (1 - g) * u[t]
    return result


def raw_scores(d: Array, u: Array, w_a: Array) -> Array:
    """qg-09: `r` [M] of one state on one passage, padding included."""
    return np.array([word @ w_a @ d for word in u])


def attended(d: Array, u: Array, real: Array, w_a: Array, w_b: Array) -> Array:
    """qg-10 to qg-12: the attentional state."""
    weights = np.zeros(len(u))
    if any(real):
        weights[real] = softmax(raw_scores(d, u, w_a)[real])
    return np.tanh(w_b @ np.concatenate([d, weights @ u]))


def lstm(x: Array, h: Array, c: Array, kernel: Array, bias: Array) -> tuple[Array, Array]:
    """One step; `kernel` [x + h, 4 h], gates in the order input, forget, value, output."""
    gates = np.concatenate([x, h]) @ kernel + bias
    n = len(h)
    into, forget, out = (sigmoid(gates[i * n : (i + 1) * n]) for i in (0, 1, 3))
    c = forget * c + into * np.tanh(gates[2 * n : 3 * n])
    return out * np.tanh(c), c


class Decoded(NamedTuple):
    """States of all steps `[T, u]`: with attention, and without."""

    attended: Array
    plain: Array


def decode(
    words: Array,
    state: list[Array],
    layers: list[tuple[Array, Array]],
    u: Array | None = None,
    real: Array | None = None,
    w_a: Array | None = None,
    w_b: Array | None = None,
) -> Decoded:
    """qg-07 with input feeding: the lowest layer reads `[y_{t-1}; d'_{t-1}]`.

    Args:
        words: `[T, w]`.
        state: `h` and `c` of each layer.
        layers: kernel and bias of each; without attention the lowest reads `y_{t-1}` alone.
        u, real, w_a, w_b: the attention; none without.
    """
    state, feed, rows = list(state), np.zeros(len(state[0])), []
    for word in words:
        below = word if u is None else np.concatenate([word, feed])
        for i, (kernel, bias) in enumerate(layers):
            below, state[2 * i + 1] = lstm(below, state[2 * i], state[2 * i + 1], kernel, bias)
            state[2 * i] = below
        feed = below if u is None else attended(below, u, real, w_a, w_b)
        rows.append((feed, below))
    return Decoded(*(np.array(part) for part in zip(*rows, strict=True)))


def distribution(logits: Array, scores: Array, source: Array, combine: str | None) -> dict:
    """qg-08, qg-13, qg-14: word to probability, one softmax over `[gen, copy]`, then merged.

    Args:
        logits: `[G]`; scores: `[M]`; source: `[M]` extended ids, PAD for no word.
        combine: "max", "sum" or None.
    """
    entries = [(w, x) for w, x in enumerate(logits) if w not in (PAD, BOS)]
    if combine is not None:
        for word in sorted({int(w) for w in source if w != PAD}):
            found = [scores[k] for k in range(len(source)) if source[k] == word]
            entries.append((word, max(found) if combine == "max" else math.fsum(found)))
    probabilities = softmax(np.array([score for _, score in entries]))
    merged: dict[int, float] = {}
    for (word, _), p in zip(entries, probabilities, strict=True):
        merged[word] = merged.get(word, 0.0) + float(p)
    return merged


def coverage(attention: Array) -> Array:
    """See et al.: `sum_s min(a_ts, c_ts)` of `[T, S]`."""
    before, result = np.zeros(attention.shape[1]), []
    for weights in attention:
        result.append(sum(min(a, c) for a, c in zip(weights, before, strict=True)))
        before = before + weights
    return np.array(result)
