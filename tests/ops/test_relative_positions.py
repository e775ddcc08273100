"""Buckets of distances against T5's rule in plain Python."""

import math

import numpy as np

from tfmrc.ops.relative_positions import distance_buckets, distance_scores


def bucket_of(distance):
    side = 16 if distance > 0 else 0
    far = abs(distance)
    if far < 8:
        return side + far
    return side + min(15, 8 + int(math.log(far / 8) / math.log(16) * 8 + 1e-6))


def test_buckets():
    expected = [bucket_of(distance) for distance in range(-299, 300)]
    assert distance_buckets(300, 32).tolist() == expected


def test_scores_are_those_of_key_minus_query():
    weights = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
    scores = np.array(distance_scores(weights, np.zeros((2, 20)), 30))
    assert scores.shape == (1, 3, 20, 20)
    for query, key in ((0, 0), (3, 19), (19, 2)):
        np.testing.assert_array_equal(scores[0, :, query, key], weights[bucket_of(key - query)])
