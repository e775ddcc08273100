"""Multi-head attention and the post-norm blocks of Masque's encoder and decoder."""

import math

import numpy as np

from tests.reference.basic import Array, gelu, linear, residual, softmax


def multi_head_attention(
    query: Array, memory: Array, weights: dict[str, Array], num_heads: int, mask: Array
) -> Array:
    """Scaled dot-product attention of one example's `query` [N, d] over `memory` [M, d].

    `mask` [N, M] says which places of the memory each query may see. A query that sees none has
    weight zero everywhere, so that only the output's bias is left of it.
    """
    q = linear(query, weights["query_kernel"], weights["query_bias"])
    k = linear(memory, weights["key_kernel"], weights["key_bias"])
    v = linear(memory, weights["value_kernel"], weights["value_bias"])
    width = q.shape[-1] // num_heads
    together = np.zeros(q.shape)
    for head in range(num_heads):
        part = slice(head * width, (head + 1) * width)
        scores = np.zeros((len(q), len(k)))
        for n in range(len(q)):
            for m in range(len(k)):
                scores[n, m] = q[n, part] @ k[m, part] / math.sqrt(width)
        together[:, part] = softmax(scores, mask) @ v[:, part]
    return linear(together, weights["output_kernel"], weights["output_bias"])


def feed_forward(x: Array, weights: dict[str, Array]) -> Array:
    """Two linear layers with GELU in between, at each place alone."""
    inner = gelu(linear(x, weights["inner_kernel"], weights["inner_bias"]))
    return linear(inner, weights["outer_kernel"], weights["outer_bias"])


def encoder_block(
    x: Array, mask: Array, block: dict[str, dict[str, Array]], num_heads: int, epsilon: float
) -> Array:
    """masque-01 twice: around self-attention and around the feed-forward net. `x` [N, d]."""
    seen = np.broadcast_to(np.asarray(mask, bool)[None, :], (len(x), len(x)))
    attended = multi_head_attention(x, x, block["self_attention"], num_heads, seen)
    x = residual(attended, x, epsilon=epsilon, **block["self_attention_norm"])
    return residual(
        feed_forward(x, block["feed_forward"]), x, epsilon=epsilon, **block["feed_forward_norm"]
    )


def decoder_block(
    x: Array,
    question: Array,
    question_mask: Array,
    passages: Array,
    passages_mask: Array,
    block: dict[str, dict[str, Array]],
    num_heads: int,
    epsilon: float,
) -> Array:
    """masque-01 four times: causal self-attention, question, all passages, feed-forward.

    `x` [T, d], `question` [J, d], `passages` [K * L, d].
    """
    steps = len(x)
    causal = np.array([[u <= t for u in range(steps)] for t in range(steps)])
    attended = multi_head_attention(x, x, block["self_attention"], num_heads, causal)
    x = residual(attended, x, epsilon=epsilon, **block["self_attention_norm"])
    for name, memory, mask in (
        ("question_attention", question, question_mask),
        ("passage_attention", passages, passages_mask),
    ):
        seen = np.broadcast_to(np.asarray(mask, bool)[None, :], (steps, len(memory)))
        attended = multi_head_attention(x, memory, block[name], num_heads, seen)
        x = residual(attended, x, epsilon=epsilon, **block[f"{name}_norm"])
    return residual(
        feed_forward(x, block["feed_forward"]), x, epsilon=epsilon, **block["feed_forward_norm"]
    )
