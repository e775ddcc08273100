"""Hypotheses of a search and their scores."""

from typing import Any, NamedTuple

import keras
from keras import ops

from tfmrc.ops.ids import PAD
from tfmrc.ops.masking import LOG_ZERO

__all__ = ["Hypotheses", "length_penalised"]


class Hypotheses(NamedTuple):
    """The `N` best word sequences of each of `B` examples, best first.

    A named tuple, so that it passes through `tf.function`, `jax.jit` and `tf.nest` as it is.

    Attributes:
        ids: int32 `[B, N, T]`, the end word included, `PAD` after it. A hypothesis that reached
            `max_length` has no end word.
        lengths: int32 `[B, N]`, words with the end word. 0 where the example has fewer than `N`
            hypotheses (a vocabulary smaller than the beam); such rows are all `PAD`.
        log_probability: float32 `[B, N]`, the sum of the words' log-probabilities as the step
            function gave them; `LOG_ZERO` where the length is 0.
        score: float32 `[B, N]`, what the hypotheses are ordered by: see `length_penalised`; less
            what a search makes them pay.
    """

    ids: Any
    lengths: Any
    log_probability: Any
    score: Any


def length_penalised(
    log_probability: keras.KerasTensor, lengths: keras.KerasTensor, length_penalty: float = 0.0
) -> keras.KerasTensor:
    """Scores word sequences: `log_probability / ((5 + length) / 6) ** length_penalty`.

    Args:
        log_probability: float tensor, any shape.
        lengths: int tensor that broadcasts with it: words, the end word included.
        length_penalty: 0 leaves the log-probability as it is, larger values favour longer
            sequences, negative ones shorter ones.

    Returns:
        float32 tensor.

    Example:

    >>> from tfmrc.decoding import length_penalised
    >>> float(length_penalised(-6.0, 7, 1.0))
    -3.0
    """
    log_probability = ops.cast(log_probability, "float32")
    if not length_penalty:
        return log_probability
    base = (5.0 + ops.cast(lengths, "float32")) / 6.0
    return log_probability / ops.power(base, length_penalty)


def finished_hypotheses(ids, lengths, log_probability, length_penalty, paid=0.0) -> Hypotheses:
    """Makes `Hypotheses`; rows of log-probability minus infinity become empty ones.

    `paid` `[B, N]` is taken from their scores.
    """
    exists = ops.isfinite(log_probability)
    lengths = ops.where(exists, lengths, 0)
    log_probability = ops.where(exists, log_probability, LOG_ZERO)
    return Hypotheses(
        ids=ops.where(exists[..., None], ids, PAD),
        lengths=lengths,
        log_probability=log_probability,
        score=length_penalised(log_probability, lengths, length_penalty) - paid,
    )
