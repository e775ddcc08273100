"""The parts of a search against loops: allowed words, n-grams, groups, scores and drawn words."""

import itertools
from functools import partial

import numpy as np
import pytest
from keras import ops

from tfmrc.decoding import beam_search, greedy_search, sample
from tfmrc.decoding.constraints import allowed_words, without_repeated_ngrams
from tfmrc.decoding.groups import best_of_groups
from tfmrc.decoding.hypotheses import finished_hypotheses, length_penalised
from tfmrc.decoding.sampling import _drawn
from tfmrc.ops.masking import LOG_ZERO

NEVER = -np.inf


@pytest.mark.parametrize("forbidden", [(), (0,), (0, 2, 5), (2, 2)])
@pytest.mark.parametrize(("t", "min_length"), [(0, 0), (0, 1), (1, 1), (1, 2), (2, 1)])
def test_allowed_words(t, min_length, forbidden):
    rows = np.random.default_rng(0).normal(size=(2, 3, 6)).astype("float32")
    rows[0, 1], rows[1, 0] = LOG_ZERO, LOG_ZERO
    rows[1, 0, 4] = 0.5 * LOG_ZERO  # impossible all the same
    rows[1, 1], rows[1, 1, 4] = LOG_ZERO, 0.4 * LOG_ZERO  # possible
    got = np.array(allowed_words(rows, t, min_length, 3, forbidden))
    assert got.dtype == np.float32
    for b, w in np.ndindex(2, 3):
        row = rows[b, w].copy()
        row[list(forbidden)] = NEVER
        row[row <= 0.5 * LOG_ZERO] = NEVER
        if t < min_length:
            row[3] = NEVER
        if (b, w) in ((0, 1), (1, 0)):
            row[:] = NEVER
            row[3] = rows[b, w, 3]
        np.testing.assert_array_equal(got[b, w], row)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 6, 7, 9])
def test_ngrams_that_would_repeat(size):
    random = np.random.default_rng(size)
    ids = random.integers(0, 4, size=(3, 2, 6))
    log_p = random.normal(size=(3, 2, 4)).astype("float32")
    for t in range(6):
        got = np.array(without_repeated_ngrams(log_p, ids, t, size))
        for b, w in np.ndindex(3, 2):
            words = ids[b, w, :t].tolist()
            grams = {tuple(words[i : i + size]) for i in range(t - size + 1)}
            for v in range(4):
                repeated = size and tuple([*words, v][-size:]) in grams
                assert got[b, w, v] == (NEVER if repeated else log_p[b, w, v])


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


@pytest.mark.parametrize("penalty", [0.0, 1.0, -0.5])
def test_length_penalty(penalty):
    total, lengths = np.array([-6.0, -6.0, -1.0]), np.array([1, 7, 13])
    expected = total / ((5 + lengths) / 6) ** penalty
    got = length_penalised(total, lengths, penalty)
    assert got.dtype == "float32"
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_hypotheses_that_do_not_exist_are_empty():
    ids = np.array([[[5, 4, 3], [7, 7, 7]]])
    lengths, total = np.array([[3, 2]]), np.array([[-6.0, NEVER]], "float32")
    result = finished_hypotheses(ids, lengths, total, 1.0)
    np.testing.assert_array_equal(result.ids, [[[5, 4, 3], [0, 0, 0]]])
    np.testing.assert_array_equal(result.lengths, [[3, 0]])
    np.testing.assert_array_equal(result.log_probability, np.array([[-6.0, LOG_ZERO]], "float32"))
    np.testing.assert_allclose(result.score, [[-6.0 * 6 / 8, LOG_ZERO * 6 / 5]], rtol=1e-6)
    paid = finished_hypotheses(ids, lengths, total, 1.0, np.array([[0.25, 0.0]]))
    np.testing.assert_allclose(paid.score[0, 0], -4.75, rtol=1e-6)


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


def test_a_number_on_the_border_draws_the_next_word():
    log_p = np.log(np.array([[[0.25, 0.5, 0.25, 0.0]] * 4], "float32") + 1e-30)
    numbers = np.array([0.5, 0.75, 1.0, 0.0], "float32")
    words, _ = _drawn(log_p, numbers, 1.0, 3, 1.0)
    assert np.array(words).tolist() == [[0, 2, 2, 1]]
    words, _ = _drawn(log_p, numbers, 1.0, 0, 0.5)  # the set is full with the first word
    assert np.array(words).tolist() == [[1, 1, 1, 1]]
    impossible = np.full((1, 4, 3), NEVER, "float32")
    impossible[..., 2] = -7.0
    words, gains = _drawn(impossible, numbers, 1.0, 0, 1.0)
    assert np.array(words).tolist() == [[2] * 4] and np.array(gains).tolist() == [[-7.0] * 4]


SEARCHES = [
    greedy_search,
    partial(beam_search, num_beams=2, num_return_sequences=2),
    partial(sample, num_samples=2, top_k=1),
]


def said(search, words, size=6, **arguments):
    """Searches where word `t` is `words[t]`; returns ids and lengths of the best hypothesis."""

    def step(ids, cache, t):
        row = ops.take(np.log(np.eye(size, dtype="float32")[list(words)] + 1e-9), t, axis=0)
        return ops.broadcast_to(row, (*ops.shape(ids), size)), cache

    result = search(step, (), 1, max_length=len(words), **arguments)
    return np.array(result.ids)[0, 0].tolist(), int(result.lengths[0, 0])


@pytest.mark.parametrize("search", SEARCHES)
def test_only_the_end_word_ends(search):
    assert said(search, (1, 2, 0, 5, 4), forbidden_ids=()) == ([1, 2, 0, 5, 4], 5)
    assert said(search, (5, 4, 5), eos_id=4) == ([5, 4, 0], 2)
    # The end word may be PAD, which follows a finished hypothesis.
    assert said(search, (5, 0, 5, 5, 5), eos_id=0, forbidden_ids=()) == ([5, 0, 0, 0, 0], 2)
