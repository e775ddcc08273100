"""No n-gram twice, and groups of beams that differ."""

import numpy as np
import pytest
from keras import ops

from tests.decoding.enumeration import RecurrentWords, exhaustive, words_of
from tfmrc.decoding import beam_search, greedy_search


def repeats(words, size):
    grams = [words[i : i + size] for i in range(len(words) - size + 1)]
    return len(grams) > len(set(grams))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_wide_beam_finds_all_sequences_without_a_repeated_ngram(size):
    model = RecurrentWords(batch_size=2, vocabulary_size=6, seed=1)
    result = model.search(
        num_beams=60, num_return_sequences=60, max_length=5, no_repeat_ngram_size=size
    )
    for example in range(2):
        right = [(s, w) for s, w in exhaustive(model, example, 5) if not repeats(w, size)]
        if size == 1:  # two words and no third one: the end word is all that is left
            right = [(s, w) for s, w in right if w[-1] == 3]
        selected = min(len(right), 60)
        got = [words_of(result, example, n) for n in range(selected)]
        assert got == [w for _, w in right[:selected]]
        score = np.asarray(result.score)[example, :selected]
        np.testing.assert_allclose(score, [s for s, _ in right[:selected]], rtol=1e-5)


def test_groups_without_cost_are_searches_of_their_own():
    model = RecurrentWords(batch_size=3, vocabulary_size=9, seed=2)
    result = model.search(
        num_beams=6, num_return_sequences=6, max_length=6, num_beam_groups=3, diversity_penalty=0.0
    )
    small = model.search(num_beams=2, num_return_sequences=2, max_length=6)
    np.testing.assert_array_equal(np.asarray(result.ids)[:, ::3], small.ids)
    np.testing.assert_allclose(np.asarray(result.score)[:, 2::3], small.score, rtol=1e-6)


def test_groups_with_cost_differ_and_say_their_own_probability():
    model = RecurrentWords(batch_size=3, vocabulary_size=12, seed=3)
    arguments = {"num_beams": 4, "num_return_sequences": 4, "max_length": 5}
    result = model.search(num_beam_groups=4, diversity_penalty=1e3, **arguments)
    greedy = greedy_search(model.step, model.cache(1), 3, max_length=5)
    for example in range(3):
        hypotheses = [words_of(result, example, n) for n in range(4)]
        assert words_of(greedy, example) in hypotheses  # the first group pays nothing
        assert len({words[0] for words in hypotheses}) == 4
        right = [model.log_probability(example, words) for words in hypotheses]
        np.testing.assert_allclose(np.asarray(result.log_probability)[example], right, rtol=1e-4)
        assert right == sorted(right, reverse=True)


def test_groups_that_have_ended_wait_for_an_open_one_that_is_better():
    table = np.full((8, 8), 1e-9)
    table[2, [3, 4, 5, 6]] = 0.5, 0.3, 0.12, 0.08  # the second group begins with 5 and 6
    table[4, 7], table[7, 3], table[5, 3], table[6, 6] = 0.3, 0.3, 0.9, 0.99
    log_p = np.log(table).astype("float32")
    result = beam_search(
        lambda ids, cache, t: (ops.take(log_p, ids, axis=0), cache),
        (),
        1,
        num_beams=4,
        num_return_sequences=3,
        max_length=8,
        num_beam_groups=2,
        diversity_penalty=3.0,
    )
    # After three words (4, 7, 3) of the first group has ended as the worst of three.
    assert [words_of(result, 0, n) for n in range(3)] == [(3,), (5, 3), (6,) * 8]
    expected = [0.5, 0.12 * 0.9, 0.08 * 0.99**7]
    np.testing.assert_allclose(result.log_probability[0], np.log(expected), rtol=1e-5)


PRICE = np.linspace(0.0, 1.5, 6).astype("float32")


def paying(model, num_beams, **cache):
    """The model's step whose cache adds up the prices of the words that it has read."""

    def step(ids, cache, t):
        log_p, inner = model.step(ids, cache["model"], t)
        return log_p, {"model": inner, "paid": cache["paid"] + ops.take(PRICE, ids)}

    inner = model.cache(num_beams, **cache)
    return step, {"model": inner, "paid": ops.zeros((len(inner["fixed"][0]), num_beams))}


@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_wide_beam_with_a_cost_is_exhaustive_search_with_that_cost(length_penalty):
    model = RecurrentWords(batch_size=2, vocabulary_size=6, seed=5)
    step, cache = paying(model, 60)
    arguments = {"num_beams": 60, "max_length": 5, "length_penalty": length_penalty}
    result = beam_search(
        step, cache, 2, num_return_sequences=30, cost=lambda cache: cache["paid"], **arguments
    )
    early = beam_search(
        step, cache, 2, num_return_sequences=1, cost=lambda cache: cache["paid"], **arguments
    )
    for example in range(2):
        right = sorted(
            (
                (score - PRICE[[2, *words[:-1]]].sum(), words)
                for score, words in exhaustive(model, example, 5, 0, length_penalty)
            ),
            reverse=True,
        )
        assert [words_of(result, example, n) for n in range(30)] == [w for _, w in right[:30]]
        score = np.asarray(result.score)[example]
        np.testing.assert_allclose(score, [s for s, _ in right[:30]], rtol=1e-5)
        assert words_of(early, example) == right[0][1]
        own = model.log_probability(example, right[0][1])
        np.testing.assert_allclose(result.log_probability[example, 0], own, rtol=1e-5)


def test_what_an_ended_hypothesis_has_paid_it_keeps():
    row = np.log([1e-9, 1e-9, 1e-9, 0.6, 0.4]).astype("float32")

    def step(ids, cache, t):
        return ops.broadcast_to(row, (1, 2, 5)), cache + 1.0

    cost = {"cost": lambda cache: 0.1 * cache}
    result = beam_search(
        step, ops.zeros((1, 2)), 1, num_beams=2, num_return_sequences=2, max_length=3, **cost
    )
    assert [words_of(result, 0, n) for n in range(2)] == [(3,), (4, 3)]
    right = [np.log(0.6) - 0.1, np.log(0.4 * 0.6) - 0.2]
    np.testing.assert_allclose(result.score[0], right, rtol=1e-5)


def test_groups_with_a_cost_are_merged_by_the_score_with_that_cost():
    model = RecurrentWords(batch_size=3, vocabulary_size=6, seed=5)
    step, cache = paying(model, 4)
    result = beam_search(
        step,
        cache,
        3,
        num_beams=4,
        num_return_sequences=4,
        max_length=5,
        num_beam_groups=2,
        diversity_penalty=1.0,
        cost=lambda cache: 4 * cache["paid"],
    )
    score, log_p = np.asarray(result.score), np.asarray(result.log_probability)
    assert (np.diff(score, axis=1) <= 0).all()
    assert (np.diff(log_p, axis=1) > 0).any(), "the cost decides"
    for example in range(3):
        words = [words_of(result, example, n) for n in range(4)]
        price = [PRICE[[2, *each[:-1]]].sum() for each in words]
        np.testing.assert_allclose(score[example], log_p[example] - 4 * np.array(price), rtol=1e-5)
