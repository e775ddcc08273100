"""Groups of beams for diverse beam search."""

from keras import ops

from tfmrc.ops.sizes import sizes


def best_of_groups(scores, finished, num_beam_groups, group_size, diversity_penalty):
    """Returns the best candidates of each group, with a penalty on words of earlier groups.

    Args:
        scores: `[B, W, V]` of all candidates; the beams of a group are adjacent.
        finished: boolean `[B, W]`.
        num_beam_groups: int. Number of groups.
        group_size: int. Number of beams per group.
        diversity_penalty: float. Cost of a word for each beam of an earlier group that has taken
            it in this step.

    Returns:
        int32 `[B, W]`, the candidates' indices in the flattened scores.

    Example: word 1 has the best score in both groups.

    >>> import numpy as np
    >>> from tfmrc.decoding.groups import best_of_groups
    >>> scores = np.log([[[0.1, 0.5, 0.4], [0.1, 0.5, 0.4]]]).astype("float32")
    >>> np.array(best_of_groups(scores, np.zeros((1, 2), bool), 2, 1, diversity_penalty=1.0)) % 3
    array([[1, 2]], dtype=int32)

    Reference: Vijayakumar et al. 2018 (diverse beam search, Hamming diversity).
    """
    vocabulary_size = sizes(scores)[-1]
    selected, taken = [], 0.0
    for group in range(num_beam_groups):
        start = group * group_size
        beams = slice(start, start + group_size)
        # A finished beam generates no words: it has no cost and causes none.
        cost = ops.where(finished[:, beams, None], 0.0, taken)
        own = ops.reshape(scores[:, beams] - cost, (-1, group_size * vocabulary_size))
        _, best = ops.top_k(own, group_size)
        best = ops.cast(best, "int32")
        selected.append(best + start * vocabulary_size)
        if group < num_beam_groups - 1:
            words = ops.one_hot(best % vocabulary_size, vocabulary_size, dtype="float32")
            open_beams = ops.take_along_axis(
                ops.logical_not(finished[:, beams]), best // vocabulary_size, axis=1
            )
            words = ops.where(open_beams[..., None], words, 0.0)
            taken = taken + diversity_penalty * ops.sum(words, axis=1, keepdims=True)
    return ops.concatenate(selected, axis=1)
