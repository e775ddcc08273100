"""Similarity matrices between two sequences."""

from keras import ops


def trilinear_similarity(left, right, weight):
    """Computes `w . [left_i; right_j; left_i * right_j]` for every pair of positions.

    The score is computed as `left w1 + right w2 + (left * w3) right^T`, without a tensor of size
    `[..., m, n, 3d]`.

    Args:
        left: `[..., m, d]`.
        right: `[..., n, d]`, leading axes broadcastable to those of `left`.
        weight: `[3d]`, the concatenation of `w1`, `w2` and `w3`.

    Returns:
        `[..., m, n]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.similarity import trilinear_similarity
        >>> left, right = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]])
        >>> print(np.array(trilinear_similarity(left, right, np.ones(6))))
        [[21.  6.]]

    Reference: Nishida et al. 2019 (Masque), masque-02; Seo et al. 2017.
    """
    dim = left.shape[-1]
    w_left, w_right, w_both = weight[:dim], weight[dim : 2 * dim], weight[2 * dim :]
    left_score = ops.sum(left * w_left, axis=-1)  # [..., m]
    right_score = ops.sum(right * w_right, axis=-1)  # [..., n]
    both_score = ops.matmul(left * w_both, ops.swapaxes(right, -1, -2))  # [..., m, n]
    return left_score[..., :, None] + right_score[..., None, :] + both_score  # masque-02
