"""Scores of distances between words, which T5 and MPNet add to those of their attention."""

import math

import numpy as np
from keras import ops

from tfmrc.ops.sizes import sizes

FARTHEST = 128  # distances from which all have the last bucket of their side


def distance_buckets(most, num_buckets):
    """Returns the bucket of each distance from `1 - most` to `most - 1`, int32 `[2 most - 1]`.

    Half of the buckets are for keys after the query. On each side, half of them stand for one
    distance each, the others for distances that grow by a constant factor up to `FARTHEST`.

    Args:
        most: int. Largest number of positions.
        num_buckets: int. Number of buckets.

    Example:
        >>> from tfmrc.ops.relative_positions import distance_buckets
        >>> print(distance_buckets(4, 32))
        [ 3  2  1  0 17 18 19]

    Reference: Raffel et al. 2020, section 2.1.
    """
    distance = np.arange(1 - most, most)  # key minus query
    side = num_buckets // 2
    exact = side // 2
    far = np.log(np.maximum(np.abs(distance), 1).astype("float32") / np.float32(exact))
    far = exact + (far / np.float32(math.log(FARTHEST / exact)) * (side - exact)).astype("int32")
    bucket = np.where(np.abs(distance) < exact, np.abs(distance), np.minimum(far, side - 1))
    return (bucket + np.where(distance > 0, side, 0)).astype("int32")


def distance_scores(weights, x, most):
    """Returns the score of each query and key, `[1, H, P, P]`.

    Args:
        weights: `[num_buckets, H]`. The score of each bucket in each head.
        x: `[R, P, ...]`. Any tensor with the positions.
        most: int. Largest number of positions.
    """
    buckets = distance_buckets(most, weights.shape[0])
    position = ops.arange(sizes(x)[1])
    distance = position[None] - position[:, None] + (most - 1)  # [P, P], from 0
    scores = ops.take(weights, ops.take(buckets, distance), axis=0)  # [P, P, H]
    return ops.transpose(scores, (2, 0, 1))[None]
