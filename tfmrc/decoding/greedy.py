"""Greedy search: the most probable word at every step."""

from collections.abc import Collection
from typing import Any

from keras import ops

from tfmrc.decoding.constraints import Step, allowed_words
from tfmrc.decoding.hypotheses import Hypotheses, finished_hypotheses
from tfmrc.ops.ids import BOS, EOS, PAD, UNK
from tfmrc.ops.typing import Tensor


def greedy_search(
    step: Step,
    cache: Any,
    batch_size: int | Tensor,
    *,
    max_length: int,
    min_length: int = 0,
    eos_id: int = EOS,
    forbidden_ids: Collection[int] = (PAD, UNK, BOS),
) -> Hypotheses:
    """Generates the most probable allowed word until the end word or `max_length`.

    The while loop stops when every example is finished. A finished example gets `PAD` at no cost,
    so its result is independent of the other examples in the batch. Ties go to the smallest id.

    Args:
        step: callable. `step(ids [B, 1], cache, t) -> (log_p [B, 1, V], cache)` returns the
            log-probabilities of word `t` (from 0), given the previous words; `ids` are the ids of
            word `t - 1`, `BOS` at `t = 0`. `V` may differ between batches.
        cache: nested dicts, lists and tuples of tensors, passed from step to step. Shapes and
            dtypes must not change.
        batch_size: int or scalar int tensor. `B`.
        max_length: int. Largest number of words, including the end word.
        min_length: int. Smallest number of words before the end word. Default: 0.
        eos_id: int. Id of the end word. Default: `EOS`.
        forbidden_ids: collection of int. Ids that are never generated. Default: (PAD, UNK, BOS).

    Returns:
        `Hypotheses` with `N = 1` and the log-probability as score.

    Example:

    >>> import numpy as np
    >>> from keras import ops
    >>> from tfmrc.decoding import greedy_search
    >>> table = np.log([[.1, .1, .1, .1, .5, .1], [.1, .1, .1, .5, .1, .1]]).astype("float32")
    >>> def step(ids, cache, t):  # word 4 first, then the end word
    ...     return ops.take(table, ops.where(ids == 4, 1, 0), axis=0), cache
    >>> ops.convert_to_numpy(greedy_search(step, (), 1, max_length=4).ids).tolist()
    [[[4, 3, 0, 0]]]
    """

    def choose(log_p, ids, t):
        log_p = allowed_words(log_p, t, min_length, eos_id, forbidden_ids)
        return ops.argmax(log_p, axis=-1), ops.max(log_p, axis=-1, initial=-float("inf"))

    shape = (batch_size, 1)
    return finished_hypotheses(*word_by_word(step, cache, shape, choose, max_length, eos_id))


def word_by_word(step, cache, shape, choose, max_length, eos_id):
    """Extends sequences by the words that a function chooses until all have ended.

    Args:
        step, cache, max_length, eos_id: As for `greedy_search`.
        shape: `(B, W)`.
        choose: callable. `choose(log_p [B, W, V], ids [B, W, T], t)` returns the words `[B, W]` and
            their log-probabilities `[B, W]`.

    Returns:
        Ids `[B, W, T]`, lengths and log-probabilities `[B, W]` of the sequences.
    """
    position = ops.arange(max_length, dtype="int32")

    def proceed(t, last, ids, lengths, total, finished, cache):
        return (t < max_length) & ops.logical_not(ops.all(finished))

    def advance(t, last, ids, lengths, total, finished, cache):
        log_p, cache = step(last, cache, t)  # [B, W, V]
        word, gain = choose(log_p, ids, t)  # [B, W]
        word = ops.where(finished, PAD, ops.cast(word, "int32"))
        total = total + ops.where(finished, 0.0, gain)
        lengths = lengths + ops.cast(ops.logical_not(finished), "int32")
        ids = ops.where(position == t, word[..., None], ids)  # [B, W, T]
        finished = finished | (word == eos_id)
        return t + 1, word, ids, lengths, total, finished, cache

    state = (
        ops.convert_to_tensor(0, dtype="int32"),
        ops.full(shape, BOS, dtype="int32"),
        ops.full((*shape, max_length), PAD, dtype="int32"),
        ops.zeros(shape, dtype="int32"),
        ops.zeros(shape, dtype="float32"),
        ops.zeros(shape, dtype="bool"),
        cache,
    )
    _, _, ids, lengths, total, _, _ = ops.while_loop(proceed, advance, state)
    return ids, lengths, total
