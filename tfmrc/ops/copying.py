"""Copy probabilities of source words, summed over the positions of each word.

Words are extended ids (see `tfmrc.text`): all positions of a word have the same id. A position
without a word (padding, the BOS of a passage) has the id PAD and cannot be copied.
"""

from keras import ops

from tfmrc.ops.ids import PAD
from tfmrc.ops.masking import masked_logsumexp
from tfmrc.ops.sizes import sizes


def copy_log_probability(log_attention, source_ids, target_ids):
    """Computes the log-probability of copying the target words.

    Computes `log sum_{s: source[s] = target[t]} attention[t, s]` without a distribution over all
    words: only the positions of the target word are summed.

    Args:
        log_attention: `[B, T, S]` log of the copy attention.
        source_ids: `[B, S]` extended ids.
        target_ids: `[B, T]` extended ids.

    Returns:
        float32 `[B, T]`; `LOG_ZERO` where the source lacks the target, or the target is PAD.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.copying import copy_log_probability
        >>> log_attention = np.log([[[0.5, 0.2, 0.3]]])
        >>> result = copy_log_probability(log_attention, np.array([[7, 9, 7]]), np.array([[7]]))
        >>> print(np.round(np.exp(result), 4))
        [[0.8]]

    Reference: Nishida et al. 2019 (Masque), masque-17 and masque-18.
    """
    same = ops.equal(target_ids[:, :, None], source_ids[:, None, :])
    same = ops.logical_and(same, ops.not_equal(source_ids, PAD)[:, None, :])
    return masked_logsumexp(log_attention, same)  # masque-17, masque-18, daanet-12


def scatter_copies(attention, source_ids, size):
    """Sums the attention over all positions of each word.

    A decoding step needs this distribution; training uses `copy_log_probability` of the target.

    Args:
        attention: `[B, W, S]` probabilities of the positions, zero at padding.
        source_ids: `[B, S]` extended ids below `size`.
        size: int or scalar tensor. Number of extended ids.

    Returns:
        `[B, W, size]`: `sum_{s: source[s] = v} attention[s]`; zero for PAD.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.copying import scatter_copies
        >>> attention = np.array([[[0.5, 0.2, 0.3]]], "float32")
        >>> print(np.array(scatter_copies(attention, np.array([[1, 3, 1]]), 4)))
        [[[0.  0.8 0.  0.2]]]
    """
    attention = ops.where(ops.not_equal(source_ids, PAD)[:, None, :], attention, 0.0)
    return combine_positions(attention, ops.cast(source_ids, "int32"), size)


def combine_positions(values, targets, size, combine="sum"):
    """Combines the values of positions that have the same target.

    Targets of a batch are flattened: row b of `targets` is `b * size` to `b * size + size - 1`.

    Args:
        values: `[B, W, S]`.
        targets: int32 `[B, S]`, each below `size`.
        size: int or scalar tensor.
        combine: str. "sum" or "max". Default: "sum".

    Returns:
        `[B, W, size]`; without a position, 0 for a sum and a very low value for a maximum.
    """
    batch, width, length = sizes(values)
    rows = ops.arange(batch, dtype="int32")[:, None] * size + targets  # [B, S]
    positions = ops.reshape(ops.transpose(values, (0, 2, 1)), (batch * length, width))  # [B S, W]
    segments = ops.segment_max if combine == "max" else ops.segment_sum
    words = segments(positions, ops.reshape(rows, (-1,)), num_segments=batch * size)  # [B size, W]
    return ops.transpose(ops.reshape(words, (batch, size, width)), (0, 2, 1))
