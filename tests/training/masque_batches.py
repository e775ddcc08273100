"""Batches of the small Masque's examples, in changing order."""

import random

import keras
import numpy as np

from tests.models.examples import FOUR, batch, labels, small


def model(seed=1, **changes):
    random.seed(seed)  # `keras.utils.set_random_seed` would import TensorFlow
    return small(**changes)


def rows(count, seed=0):
    """(x, y, sample_weight) of all `count` batches, one after the other, eight examples each.

    Among them: no passage at all, an empty one, an empty question, one that has no answer.
    """
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        questions = [(*FOUR, *FOUR)[i] for i in rng.permutation(8)]
        x = batch(questions)
        made.append((x, *labels(questions, x)))
    return keras.tree.map_structure(lambda *leaves: np.concatenate(leaves), *made)
