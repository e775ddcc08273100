"""Sampling: words drawn by their probabilities, so that several hypotheses differ."""

from collections.abc import Collection
from typing import Any

import keras
from keras import ops

from tfmrc.decoding.constraints import (
    Step,
    allowed_words,
    check_arguments,
    without_repeated_ngrams,
)
from tfmrc.decoding.hypotheses import Hypotheses, finished_hypotheses
from tfmrc.ops.ids import BOS, EOS, PAD, UNK

__all__ = ["sample"]


def sample(
    step: Step,
    cache: Any,
    batch_size: Any,
    *,
    num_samples: int,
    num_return_sequences: int | None = None,
    max_length: int,
    min_length: int = 0,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    eos_id: int = EOS,
    forbidden_ids: Collection[int] = (PAD, UNK, BOS),
    no_repeat_ngram_size: int = 0,
) -> Hypotheses:
    """Draws each next word from the allowed ones until the end word or `max_length`.

    A word is drawn with a probability in proportion to `p ** (1 / temperature)` among the `top_k`
    most probable ones, and of these among the fewest that have `top_p` of the probability together
    (nucleus sampling). The random numbers are one for each sample and step, drawn before the
    loop and the same for all examples: what an example gets depends on the seed and not on what
    else is in the batch. Samples may coincide.

    Args:
        step: as for `beam_search`; `W` is `num_samples`.
        cache: nested dicts, lists and tuples of tensors, handed from step to step; shapes and
            dtypes must not change.
        batch_size: `B`, an int or a scalar int tensor.
        num_samples: hypotheses that are drawn.
        num_return_sequences: how many of them are returned, the most probable ones; None for all.
        max_length: most words of an answer, the end word included.
        min_length: fewest words before the end word.
        temperature: above 0; small values keep to the most probable words.
        top_k: 0 for all words.
        top_p: above 0, at most 1.
        seed: other numbers for another seed, the same ones at every call.
        eos_id: id of the end word.
        forbidden_ids: ids that are never taken.
        no_repeat_ngram_size: a hypothesis holds no n-gram of so many words twice; 0: no such rule.

    Returns:
        `Hypotheses`, the most probable first; `score` is the log-probability as the step function
        gave it, without temperature and cuts.

    Raises:
        ValueError: an argument makes no sense.

    Example:

    >>> import numpy as np
    >>> from keras import ops
    >>> from tfmrc.decoding import sample
    >>> row = np.log([1e-9, 1e-9, 1e-9, 0.5, 0.3, 0.2]).astype("float32")
    >>> def step(ids, cache, t):
    ...     return ops.broadcast_to(row, (1, 4, 6)), cache
    >>> result = sample(step, (), 1, num_samples=4, max_length=3, top_k=2)
    >>> set(ops.convert_to_numpy(result.ids).ravel().tolist()) <= {0, 3, 4}
    True

    Reference: Holtzman et al. 2020 (nucleus sampling).
    """
    check_arguments(max_length, min_length, eos_id, forbidden_ids)
    num_return_sequences = num_samples if num_return_sequences is None else num_return_sequences
    if (
        not 1 <= num_return_sequences <= num_samples
        or temperature <= 0
        or top_k < 0
        or not 0 < top_p <= 1
    ):
        raise ValueError(
            "`num_return_sequences` must be from 1 to `num_samples`, `temperature` above 0, "
            "`top_k` 0 or more, `top_p` above 0 and at most 1. Received: "
            f"num_return_sequences={num_return_sequences}, num_samples={num_samples}, "
            f"temperature={temperature}, top_k={top_k}, top_p={top_p}"
        )
    position = ops.arange(max_length, dtype="int32")
    numbers = keras.random.uniform((max_length, num_samples), seed=seed, dtype="float32")

    def proceed(t, last, ids, lengths, total, finished, cache):
        return (t < max_length) & ops.logical_not(ops.all(finished))

    def advance(t, last, ids, lengths, total, finished, cache):
        log_p, cache = step(last, cache, t)
        log_p = without_repeated_ngrams(log_p, ids, t, no_repeat_ngram_size)
        log_p = allowed_words(log_p, t, min_length, eos_id, forbidden_ids)
        word, gain = _drawn(log_p, ops.take(numbers, t, axis=0), temperature, top_k, top_p)
        word = ops.where(finished, PAD, word)
        total = total + ops.where(finished, 0.0, gain)
        lengths = lengths + ops.cast(ops.logical_not(finished), "int32")
        ids = ops.where(position == t, word[..., None], ids)
        finished = finished | (word == eos_id)
        return t + 1, word, ids, lengths, total, finished, cache

    shape = (batch_size, num_samples)
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
    total, order = ops.top_k(total, num_return_sequences)
    lengths = ops.take_along_axis(lengths, order, axis=1)
    ids = ops.take_along_axis(ids, order[..., None], axis=1)
    return finished_hypotheses(ids, lengths, total, 0.0)


def _drawn(log_p, numbers, temperature, top_k, top_p):
    """Words `[B, W]` where the numbers `[W]` fall among the kept words, and their log p."""
    size = ops.shape(log_p)[-1]
    count = size if not top_k else ops.minimum(top_k, size)
    if isinstance(size, int):
        count = min(top_k or size, size)
    best, words = ops.top_k(log_p, count)
    p = ops.exp((best - best[..., :1]) / temperature)
    p = p / ops.sum(p, axis=-1, keepdims=True)
    p = ops.where(ops.cumsum(p, axis=-1) - p < top_p, p, 0.0)  # the first is always kept
    until = ops.cumsum(p, axis=-1)
    behind = until <= numbers[:, None] * until[..., -1:]
    selected = ops.sum(ops.cast(behind, "int32"), axis=-1)
    kept = ops.sum(ops.cast(p > 0, "int32"), axis=-1)
    selected = ops.minimum(selected, kept - 1)[..., None]  # rounding must not lead beyond them
    word = ops.take_along_axis(words, selected, axis=-1)[..., 0]
    return ops.cast(word, "int32"), ops.take_along_axis(best, selected, axis=-1)[..., 0]
