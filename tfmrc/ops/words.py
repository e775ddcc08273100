"""Scores of source positions, combined per distinct word.

Words are extended ids, as in `tfmrc.ops.copying`. The score of a word is stored at the position of
its first occurrence, so that no tensor has the size of the vocabulary.
"""

from keras import ops

from tfmrc.ops.copying import combine_positions
from tfmrc.ops.ids import PAD
from tfmrc.ops.masking import LOG_ZERO, masked_max
from tfmrc.ops.sizes import sizes


def first_positions(source_ids):
    """Returns the position of the first occurrence of each position's word.

    Args:
        source_ids: int `[B, M]` extended ids, PAD where nothing can be copied.

    Returns:
        int32 `[B, M]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.words import first_positions
        >>> print(np.array(first_positions(np.array([[7, 9, 7, 0, 9]]))))
        [[0 1 0 3 1]]
    """
    same = ops.equal(source_ids[:, :, None], source_ids[:, None, :])
    return ops.cast(ops.argmax(ops.cast(same, "int8"), axis=-1), "int32")


def is_first(source_ids, positions=None):
    """Returns True where a position is its word's first occurrence, boolean `[B, M]`.

    Args:
        source_ids: int `[B, M]` extended ids, PAD where nothing can be copied.
        positions: the output of `first_positions(source_ids)`; computed here if None.
            Default: None.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.words import is_first
        >>> print(np.array(is_first(np.array([[7, 9, 7, 0, 9]]))))
        [[ True  True False False False]]
    """
    positions = first_positions(source_ids) if positions is None else positions
    first = ops.equal(positions, ops.arange(sizes(source_ids)[1], dtype="int32"))
    return ops.logical_and(first, ops.not_equal(source_ids, PAD))


def scores_of_words(scores, source_ids, combine, positions=None):
    """Returns the score of each distinct word: the sum or maximum over its positions.

    Args:
        scores: float32 `[B, T, M]`, the positions' raw scores.
        source_ids: int `[B, M]` extended ids, PAD where nothing can be copied.
        combine: str. "sum" or "max".
        positions: the output of `first_positions(source_ids)`; computed here if None.
            Default: None.

    Returns:
        float32 `[B, T, M]`: a word's score at its first position, `LOG_ZERO` elsewhere.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.words import scores_of_words
        >>> scores, ids = np.array([[[1.0, 5.0, 2.0]]], "float32"), np.array([[7, 9, 7]])
        >>> print(np.array(scores_of_words(scores, ids, "sum"))[0, 0, :2])
        [3. 5.]
        >>> print(np.array(scores_of_words(scores, ids, "max"))[0, 0, :2])
        [2. 5.]

    Reference: Zhao et al. 2018 (maxout pointer), qg-13 and qg-14.
    """
    positions = first_positions(source_ids) if positions is None else positions
    words = combine_positions(scores, positions, sizes(scores)[-1], combine)  # qg-14, qg-13
    return ops.where(is_first(source_ids, positions)[:, None, :], words, LOG_ZERO)


def scores_of_targets(scores, source_ids, target_ids, combine):
    """Returns the score of each target word, computed only from the word's positions.

    Args:
        scores: float32 `[B, T, M]`.
        source_ids: int `[B, M]` extended ids.
        target_ids: int `[B, T]` extended ids.
        combine: str. "sum" or "max".

    Returns:
        float32 `[B, T]`; `LOG_ZERO` where the source lacks the target.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.words import scores_of_targets
        >>> scores, ids = np.array([[[1.0, 5.0, 2.0]]], "float32"), np.array([[7, 9, 7]])
        >>> print(np.array(scores_of_targets(scores, ids, np.array([[7]]), "sum")))
        [[3.]]

    Reference: Zhao et al. 2018 (maxout pointer), qg-13 and qg-14.
    """
    same = ops.equal(target_ids[:, :, None], source_ids[:, None, :])
    same = ops.logical_and(same, ops.not_equal(source_ids, PAD)[:, None, :])
    if combine == "max":
        total = masked_max(scores, same, axis=-1)
    else:
        total = ops.sum(ops.where(same, scores, 0.0), axis=-1)
    return ops.where(ops.any(same, axis=-1), total, LOG_ZERO)
