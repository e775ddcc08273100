"""Sampling of words by their probabilities."""

from collections.abc import Collection
from typing import Any

import numpy as np
from keras import ops

from tfmrc.decoding.constraints import Step, allowed_words, without_repeated_ngrams
from tfmrc.decoding.greedy import word_by_word
from tfmrc.decoding.hypotheses import Hypotheses, finished_hypotheses
from tfmrc.ops.ids import BOS, EOS, PAD, UNK
from tfmrc.ops.sizes import sizes
from tfmrc.ops.typing import Tensor


def sample(
    step: Step,
    cache: Any,
    batch_size: int | Tensor,
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
    """Samples words until the end word or `max_length`.

    A word is drawn with probability proportional to `p ** (1 / temperature)` from the `top_k` most
    probable words, restricted to the smallest set with a total probability of `top_p` (nucleus
    sampling). There is one random number per sample and step, drawn before the loop and shared by
    all examples. The result of an example therefore depends on the seed and not on the other
    examples in the batch. Samples may coincide.

    Args:
        step: callable. As for `beam_search`; `W` is `num_samples`.
        cache: nested dicts, lists and tuples of tensors, passed from step to step. Shapes and
            dtypes must not change.
        batch_size: int or scalar int tensor. `B`.
        num_samples: int. Number of samples to draw.
        num_return_sequences: int. Number of returned samples, the most probable ones; None for all.
            Default: None.
        max_length: int. Largest number of words, including the end word.
        min_length: int. Smallest number of words before the end word. Default: 0.
        temperature: float. Above 0; small values favour the most probable words. Default: 1.0.
        top_k: int. Number of words to draw from; 0 for all words. Default: 0.
        top_p: float. Above 0, at most 1. Default: 1.0.
        seed: int. Every call with the same seed draws the same numbers, compiled or not, on every
            backend. Default: 0.
        eos_id: int. Id of the end word. Default: `EOS`.
        forbidden_ids: collection of int. Ids that are never generated. Default: (PAD, UNK, BOS).
        no_repeat_ngram_size: int. Size of the n-grams that must not occur twice in a hypothesis; 0
            for no constraint. Default: 0.

    Returns:
        `Hypotheses`, the most probable first; `score` is the step function's log-probability,
        before temperature, `top_k` and `top_p`.

    Raises:
        ValueError: If `temperature` or `top_p` is out of range.

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
    if temperature <= 0 or not 0 < top_p <= 1:
        raise ValueError(
            "`temperature` must be above 0, `top_p` above 0 and at most 1. "
            f"Received: temperature={temperature}, top_p={top_p}"
        )
    # Keras' own numbers are others in a graph that XLA compiles.
    drawn = np.random.default_rng(seed).random((max_length, num_samples), dtype="float32")
    numbers = ops.convert_to_tensor(drawn)

    def choose(log_p, ids, t):
        log_p = without_repeated_ngrams(log_p, ids, t, no_repeat_ngram_size)
        log_p = allowed_words(log_p, t, min_length, eos_id, forbidden_ids)
        return _drawn(log_p, ops.take(numbers, t, axis=0), temperature, top_k, top_p)

    shape = (batch_size, num_samples)
    ids, lengths, total = word_by_word(step, cache, shape, choose, max_length, eos_id)
    total, order = ops.top_k(total, num_return_sequences or num_samples)
    lengths = ops.take_along_axis(lengths, order, axis=1)
    ids = ops.take_along_axis(ids, order[..., None], axis=1)
    return finished_hypotheses(ids, lengths, total)


def _drawn(log_p, numbers, temperature, top_k, top_p):
    """Returns the words `[B, W]` drawn by the numbers `[W]`, and their log-probabilities."""
    size = sizes(log_p)[-1]
    known = isinstance(size, int)
    count = (min(top_k, size) if known else ops.minimum(top_k, size)) if top_k else size  # K
    sorted_log_p, words = ops.top_k(log_p, count)  # [B, W, K]
    p = ops.exp((sorted_log_p - sorted_log_p[..., :1]) / temperature)
    p = p / ops.sum(p, axis=-1, keepdims=True)
    p = ops.where(ops.cumsum(p, axis=-1) - p < top_p, p, 0.0)  # never removes the first word
    # The first word whose sum of probabilities is above the number: of p = [0.5, 0.3, 0] and the
    # number 0.7, which is 0.56 of their sum, the second one.
    until = ops.cumsum(p, axis=-1)
    passed = until <= numbers[:, None] * until[..., -1:]
    selected = ops.sum(ops.cast(passed, "int32"), axis=-1)  # [B, W]
    remaining = ops.sum(ops.cast(p > 0, "int32"), axis=-1)
    selected = ops.minimum(selected, remaining - 1)[..., None]  # guards against rounding
    word = ops.take_along_axis(words, selected, axis=-1)[..., 0]
    return word, ops.take_along_axis(sorted_log_p, selected, axis=-1)[..., 0]
