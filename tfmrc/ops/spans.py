"""Selection of spans by the probabilities of begin and end."""

from keras import ops

from tfmrc.ops.masking import LOG_ZERO
from tfmrc.ops.sizes import sizes


def best_spans(log_begin, log_end, max_length, num_spans=1):
    """Returns the spans with the largest `P_begin[i] * P_end[j]`, `i <= j < i + max_length`.

    Args:
        log_begin: `[B, n]`, log-probabilities that a span begins at a word.
        log_end: `[B, n]`, log-probabilities that a span ends with a word.
        max_length: int. Largest number of words of a span.
        num_spans: int. Number of spans K. Default: 1.

    Returns:
        `begin` and `end` int32 `[B, K]`, both inclusive, and `log_probability` `[B, K]`, best
        first; ties are in the order of the passage. If a passage has fewer than K possible spans,
        the log-probability of the others is about `LOG_ZERO`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.spans import best_spans
        >>> begin, end = np.log([[0.6, 0.1, 0.3]]), np.log([[0.1, 0.2, 0.7]])
        >>> for result in best_spans(begin, end, max_length=2, num_spans=2):
        ...     print(np.round(np.array(result), 2))
        [[2 0]]
        [[2 1]]
        [[-1.56 -2.12]]

    Reference: Liu et al. 2018 (SAN), section 4 (K-best spans by `P_begin * P_end`).
    """
    log_begin = ops.cast(log_begin, "float32")
    log_end = ops.cast(log_end, "float32")
    length = sizes(log_end)[1]
    # Padding covers passages shorter than `max_length` or with fewer than `num_spans` spans.
    padded = ops.pad(log_end, [[0, 0], [0, max_length - 1]], constant_values=LOG_ZERO)
    scores = ops.stack(
        [log_begin + padded[:, extra : extra + length] for extra in range(max_length)], axis=-1
    )
    flat = ops.reshape(scores, (-1, length * max_length))
    flat = ops.pad(flat, [[0, 0], [0, num_spans - 1]], constant_values=2 * LOG_ZERO)
    log_probability, position = ops.top_k(flat, num_spans)
    position = ops.minimum(ops.cast(position, "int32"), length * max_length - 1)
    begin = position // max_length
    end = ops.minimum(begin + position % max_length, length - 1)
    return begin, end, log_probability
