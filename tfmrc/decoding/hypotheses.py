"""Results of a search and their scores."""

from typing import NamedTuple

from keras import ops

from tfmrc.ops.ids import PAD
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.ops.typing import Tensor


class Hypotheses(NamedTuple):
    """The `N` best word sequences of each of `B` examples, best first.

    A named tuple, which `tf.function`, `jax.jit` and `tf.nest` accept.

    Attributes:
        ids: int32 `[B, N, T]`, including the end word, with `PAD` after it. A hypothesis that
            reached `max_length` has no end word.
        lengths: int32 `[B, N]`, the number of words including the end word. 0 if the example has
            fewer than `N` hypotheses (a vocabulary smaller than the beam); such rows are all `PAD`.
        log_probability: float32 `[B, N]`, the sum of the words' log-probabilities from the step
            function; `LOG_ZERO` where the length is 0.
        score: float32 `[B, N]`, by which the hypotheses are ordered: `length_penalised` minus the
            cost of the search.
    """

    ids: Tensor
    lengths: Tensor
    log_probability: Tensor
    score: Tensor


def length_penalised(
    log_probability: Tensor, lengths: Tensor, length_penalty: float = 0.0
) -> Tensor:
    """Computes scores `log_probability / ((5 + length) / 6) ** length_penalty`.

    Args:
        log_probability: float tensor of any shape.
        lengths: int tensor, broadcastable. Number of words including the end word.
        length_penalty: float. Positive values favour longer sequences, negative values shorter
            ones. Default: 0, the log-probability itself.

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


def finished_hypotheses(ids, lengths, log_probability, length_penalty=0.0, paid=0.0) -> Hypotheses:
    """Builds `Hypotheses`; rows of log-probability minus infinity become empty.

    `paid` `[B, N]` is subtracted from the scores.
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
