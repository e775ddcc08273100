"""The parts of a search against loops: groups of beams, drawn words, the end word."""

import itertools
from functools import partial

import numpy as np
import pytest
from keras import ops

from tfmrc.decoding import beam_search, greedy_search, sample
from tfmrc.decoding.beam import best_of_groups
from tfmrc.decoding.sampling import _drawn


@pytest.mark.parametrize(("groups", "size"), [(1, 3), (2, 2), (3, 1), (3, 2)])
@pytest.mark.parametrize("penalty", [0.0, 0.5, 3.0])
def test_best_of_groups(groups, size, penalty):
    random = np.random.default_rng(0)
    scores = random.normal(size=(4, groups * size, 5)).astype("float32")
    finished = random.random((4, groups * size)) < 0.4
    got = np.array(best_of_groups(scores, finished, groups, size, penalty))
    assert got.shape == (4, groups * size) and got.dtype == np.int32
    for b in range(4):
        taken, expected = np.zeros(5), []
        for group in range(groups):
            beams = range(group * size, (group + 1) * size)
            pairs = sorted(
                itertools.product(beams, range(5)),
                key=lambda pair: (
                    -(
                        scores[b, pair[0], pair[1]]
                        - (0.0 if finished[b, pair[0]] else penalty * taken[pair[1]])
                    )
                ),
            )[:size]
            expected += [beam * 5 + word for beam, word in pairs]
            for beam, word in pairs:
                taken[word] += not finished[b, beam]
        assert got[b].tolist() == expected


NUMBERS = np.array([0.0, 0.1, 0.25, 0.49, 0.51, 0.74, 0.76, 0.99, 0.9999999], "float32")


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("top_k", "top_p"), [(0, 1.0), (3, 1.0), (9, 1.0), (0, 0.6), (4, 0.5)])
def test_drawn_words(temperature, top_k, top_p):
    p = np.random.default_rng(1).dirichlet(np.ones(6), size=2)
    log_p = np.log(np.repeat(p[:, None], len(NUMBERS), axis=1)).astype("float32")
    words, gains = (np.array(x) for x in _drawn(log_p, NUMBERS, temperature, top_k, top_p))
    for b in range(2):
        order = np.argsort(-p[b], kind="stable")[: top_k or None]
        weights = p[b, order] ** (1 / temperature)
        weights /= weights.sum()
        weights[np.cumsum(weights) - weights >= top_p] = 0.0
        until = np.cumsum(weights) / weights.sum()
        expected = [order[int(np.argmax(until > number))] for number in NUMBERS.astype(float)]
        assert words[b].tolist() == expected
        np.testing.assert_allclose(gains[b], np.log(p[b, expected]), rtol=1e-5)


SEARCHES = [
    greedy_search,
    partial(beam_search, num_beams=2, num_return_sequences=2),
    partial(sample, num_samples=2, top_k=1),
]


def found(search, words, size=6, **arguments):
    """Searches where word `t` is `words[t]`; returns ids and lengths of the best hypothesis."""

    def step(ids, cache, t):
        row = ops.take(np.log(np.eye(size, dtype="float32")[list(words)] + 1e-9), t, axis=0)
        return ops.broadcast_to(row, (*ops.shape(ids), size)), cache

    result = search(step, (), 1, max_length=len(words), **arguments)
    return np.array(result.ids)[0, 0].tolist(), int(result.lengths[0, 0])


@pytest.mark.parametrize("search", SEARCHES)
def test_only_the_end_word_ends(search):
    assert found(search, (1, 2, 0, 5, 4), forbidden_ids=()) == ([1, 2, 0, 5, 4], 5)
    assert found(search, (5, 4, 5), eos_id=4) == ([5, 4, 0], 2)
    # The end word may be PAD, which follows a finished hypothesis.
    assert found(search, (5, 0, 5, 5, 5), eos_id=0, forbidden_ids=()) == ([5, 0, 0, 0, 0], 2)
