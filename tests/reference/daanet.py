"""The dual ask-answer network, one word at a time, in float64."""

import numpy as np

from tests.reference.basic import Array, layer_norm, sigmoid, softmax
from tests.reference.recurrent import lstm

PAD, BOS = 0, 2


def character_word(characters: Array, table: Array, kernel: Array, bias: Array) -> Array:
    """daanet-04 for one word's character ids (0 behind its end); `kernel` [w, d, out]."""
    word = [table[c] for c in characters if c]
    side = len(kernel) // 2
    places = []
    for i in range(len(word)):
        total = np.array(bias, np.float64)
        for k in range(len(kernel)):
            if 0 <= i + k - side < len(word):
                total = total + word[i + k - side] @ kernel[k]
        places.append(total)
    return np.max(places, axis=0) if places else np.zeros(len(bias))


def embedding(
    word: Array, character: Array, h1: Array, v1: Array, h2: Array, v2: Array, h3: Array, v3: Array
) -> Array:
    """daanet-01 to daanet-03 as printed, for one word."""
    e = np.concatenate([word, character]) @ h1 + v1
    g = sigmoid(e @ h2 + v2)
    return g * e + (1 - g) * (e @ h3 + v3)


def self_attention(x: Array, real: Array, r: Array, num_heads: int, causal: bool) -> Array:
    """daanet-05 for one sequence `x` [n, d]; zeros where nothing is seen."""
    n, d = x.shape
    part = d // num_heads
    result = np.zeros((n, d))
    for i in range(n):
        seen = [j for j in range(n) if real[j] and (j <= i or not causal)]
        for h in range(num_heads):
            place = slice(h * part, (h + 1) * part)
            if seen:
                keys = np.array([x[j] @ r[:, place] for j in seen])
                weights = softmax(keys @ (x[i] @ r[:, place]) / np.sqrt(part))
                result[i, place] = weights @ np.array([x[j, place] for j in seen])
    return result


def encoder(x: Array, v: dict[str, Array], num_heads: int, causal: bool, in_series: bool) -> Array:
    """One sequence without padding through all blocks whose norm is in `v`, side by side."""
    outputs = []
    for block in ("feed_forward", "lstm", "self_attention"):
        if f"{block}_norm/gamma" not in v:
            continue
        if block == "feed_forward":
            inner = np.maximum(x @ v[f"{block}/inner/kernel"] + v[f"{block}/inner/bias"], 0)
            y = inner @ v[f"{block}/outer/kernel"] + v[f"{block}/outer/bias"]
        elif block == "lstm":
            y, number = x, 1
            while any(name.startswith(f"lstm_{number}/") for name in v):
                y = recurrent(y, v, f"lstm_{number}", causal)
                number += 1
        else:
            r = v["self_attention/projection/kernel"]
            y = self_attention(x, np.ones(len(x), bool), r, num_heads, causal)
        y = layer_norm(y, v[f"{block}_norm/gamma"], v[f"{block}_norm/beta"], 1e-5)
        outputs.append(y)
        x = y if in_series else x
    return np.concatenate(outputs, axis=-1)


def recurrent(x: Array, v: dict[str, Array], prefix: str, causal: bool) -> Array:
    outputs = []
    for direction, order in (("forward", 1), ("backward", -1))[: 2 - causal]:
        cell = f"{prefix}/{direction}/lstm_cell"
        weights = [v[f"{cell}/{name}"] for name in ("kernel", "recurrent_kernel", "bias")]
        zeros = np.zeros(len(weights[1]))
        hidden, _ = lstm(x[::order], *weights, zeros, zeros)
        outputs.append(hidden[1:][::order])
    return np.concatenate(outputs, axis=-1)


def similarity(x: Array, y: Array, real: Array, u: Array, v: Array) -> Array:
    """daanet-06: `s(X, Y)` [m, n], zeros at the padding of Y."""
    scores = (x @ u) @ (y @ v).T / np.sqrt(x.shape[-1])
    return softmax(scores, np.broadcast_to(real, scores.shape))


def vocabulary(
    folded: Array, w1: Array, b1: Array, w_shared: Array, b_shared: Array
) -> dict[int, float]:
    """daanet-11: one step's distribution over the common words; PAD and BOS are no words."""
    logits = np.tanh(folded @ w1 + b1) @ w_shared + b_shared
    words = [w for w in range(len(logits)) if w not in (PAD, BOS)]
    return dict(zip(words, softmax(logits[words]).tolist(), strict=True))


def context(attention: Array, words: Array) -> dict[int, float]:
    """daanet-12: the attention of all places of a same word added."""
    result: dict[int, float] = {}
    for weight, word in zip(attention, words, strict=True):
        if word != PAD:
            result[int(word)] = result.get(int(word), 0.0) + float(weight)
    return result


def switch(folded: Array, previous: Array, w2: Array, b2: Array) -> float:
    """daanet-13: the share of generating."""
    return float(sigmoid(np.concatenate([folded, previous]) @ w2 + b2)[0])


def mixture(share: float, of_vocabulary: dict[int, float], of_context: dict[int, float]):
    """daanet-14; where there is nothing to copy, all is generated."""
    share = share if of_context else 1.0
    result = {word: share * p for word, p in of_vocabulary.items()}
    for word, p in of_context.items():
        result[word] = result.get(word, 0.0) + (1 - share) * p
    return result


def coverage(attention: Array) -> Array:
    """daanet-16: for every step of `attention` [T, n] the overlap with all steps before it."""
    return np.array(
        [
            sum(min(attention[t, s], attention[:t, s].sum()) for s in range(attention.shape[1]))
            for t in range(len(attention))
        ]
    )
