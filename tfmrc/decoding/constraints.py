"""Constraints on the next word of a search."""

from collections.abc import Callable, Collection
from typing import Any

from keras import ops

from tfmrc.ops.masking import LOG_ZERO
from tfmrc.ops.sizes import sizes
from tfmrc.ops.typing import Tensor

#: `step(ids [B, W], cache, t) -> (log_p [B, W, V], cache)`.
Step = Callable[[Tensor, Any, Tensor], tuple[Tensor, Any]]


def allowed_words(
    log_p: Tensor, t: Tensor | int, min_length: int, eos_id: int, forbidden_ids: Collection[int]
) -> Tensor:
    """Sets the log-probabilities of forbidden and impossible words to minus infinity.

    `forbidden_ids` are always forbidden, and the end word before `min_length` words. Impossible
    words are those at `LOG_ZERO`, so that a beam wider than the possible words has fewer
    hypotheses. If no other word is possible, only the end word is allowed, even before
    `min_length`, so that the search ends instead of generating a forbidden word. The probabilities
    are not renormalized.

    Args:
        log_p: `[B, W, V]`.
        t: int or scalar int tensor. Number of previous words.
        min_length: int. Smallest number of words before the end word.
        eos_id: int. Id of the end word.
        forbidden_ids: collection of int. Ids that are never generated.

    Returns:
        float32 `[B, W, V]`.
    """
    log_p = ops.cast(log_p, "float32")
    word = ops.arange(sizes(log_p)[-1], dtype="int32")  # [V]
    end = word == eos_id
    forbidden = end & (t < min_length)
    for identifier in forbidden_ids:
        forbidden = forbidden | (word == identifier)
    impossible = log_p <= LOG_ZERO / 2
    constrained = ops.where(forbidden | impossible, -float("inf"), log_p)
    best = ops.max(constrained, axis=-1, keepdims=True, initial=-float("inf"))  # [B, W, 1]
    return ops.where(best > -float("inf"), constrained, ops.where(end, log_p, -float("inf")))


def without_repeated_ngrams(log_p: Tensor, ids: Tensor, t: Tensor | int, size: int) -> Tensor:
    """Sets the log-probabilities of words that would repeat an n-gram to minus infinity.

    Args:
        log_p: `[B, W, V]`.
        ids: int `[B, W, T]`, the previous words, arbitrary from position `t` on.
        t: int or scalar int tensor. Number of previous words.
        size: int. n, the number of words of an n-gram; 0 for no constraint.

    Returns:
        `[B, W, V]`.

    Example: after 5 7 5 the word 7 would repeat "5 7".

    >>> import numpy as np
    >>> from tfmrc.decoding.constraints import without_repeated_ngrams
    >>> log_p = np.zeros((1, 1, 9), "float32")
    >>> result = without_repeated_ngrams(log_p, np.array([[[5, 7, 5, 0]]]), 3, size=2)
    >>> np.flatnonzero(np.isinf(result)).tolist()
    [7]
    """
    length = ids.shape[-1]
    if not size or size > length:
        return log_p
    batch, beams, vocabulary_size = sizes(log_p)
    t = ops.convert_to_tensor(t, dtype="int32")
    # Compares the last n - 1 words with those at each of the T - n + 1 earlier positions.
    begins = length - size + 1
    same = ops.arange(begins, dtype="int32") + size <= t
    same = ops.broadcast_to(same, (batch, beams, begins))  # [B, W, T - n + 1]
    for offset in range(size - 1):
        last = ops.clip(t - size + 1 + offset, 0, length - 1)
        word = ops.take(ids, ops.reshape(last, (1,)), axis=-1)  # [B, W, 1]
        same = same & (ids[..., offset : offset + begins] == word)
    # A word of a beam is packed as `beam * V + word`: those that end an n-gram are counted.
    row = ops.arange(batch * beams, dtype="int32") * vocabulary_size
    words = ops.cast(ops.reshape(ids[..., size - 1 :], (batch * beams, begins)), "int32")
    marks = ops.segment_sum(
        ops.cast(ops.reshape(same, (-1,)), "float32"),
        ops.reshape(row[:, None] + words, (-1,)),
        num_segments=batch * beams * vocabulary_size,
    )
    return ops.where(ops.reshape(marks, sizes(log_p)) > 0, -float("inf"), log_p)
