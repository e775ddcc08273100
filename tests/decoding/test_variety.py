"""No n-gram twice, and groups of beams that differ."""

import numpy as np
import pytest

from tests.decoding.enumeration import RecurrentWords, exhaustive, words_of
from tfmrc.decoding import beam_search, greedy_search


def repeats(words, size):
    grams = [words[i : i + size] for i in range(len(words) - size + 1)]
    return len(grams) > len(set(grams))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_wide_beam_finds_all_sequences_without_a_repeated_ngram(size):
    model = RecurrentWords(batch_size=2, vocabulary_size=6, seed=1)
    found = beam_search(
        model.step, model.cache(60), 2, num_beams=60, num_return=60, max_length=5,
        no_repeat_ngram_size=size,
    )  # fmt: skip
    for example in range(2):
        right = [(s, w) for s, w in exhaustive(model, example, 5) if not repeats(w, size)]
        if size == 1:  # two words and no third one: the end word is all that is left
            right = [(s, w) for s, w in right if w[-1] == 3]
        kept = min(len(right), 60)
        got = [words_of(found, example, n) for n in range(kept)]
        assert got == [w for _, w in right[:kept]]
        score = np.asarray(found.score)[example, :kept]
        np.testing.assert_allclose(score, [s for s, _ in right[:kept]], rtol=1e-5)


def test_no_rule_and_one_group_are_plain_beam_search():
    model = RecurrentWords(batch_size=3, vocabulary_size=9, seed=2)
    arguments = {"num_beams": 4, "num_return": 4, "max_length": 6}
    plain = beam_search(model.step, model.cache(4), 3, **arguments)
    same = beam_search(model.step, model.cache(4), 3, num_groups=1, diversity=9.0, **arguments)
    for left, right in zip(plain, same, strict=True):
        np.testing.assert_array_equal(left, right)


def test_groups_without_cost_are_searches_of_their_own():
    model = RecurrentWords(batch_size=3, vocabulary_size=9, seed=2)
    found = beam_search(
        model.step, model.cache(6), 3, num_beams=6, num_return=6, max_length=6, num_groups=3,
        diversity=0.0,
    )  # fmt: skip
    small = beam_search(model.step, model.cache(2), 3, num_beams=2, num_return=2, max_length=6)
    np.testing.assert_array_equal(np.asarray(found.ids)[:, ::3], small.ids)
    np.testing.assert_allclose(np.asarray(found.score)[:, 2::3], small.score, rtol=1e-6)


def test_groups_with_cost_differ_and_say_their_own_probability():
    model = RecurrentWords(batch_size=3, vocabulary_size=12, seed=3)
    arguments = {"num_beams": 4, "num_return": 4, "max_length": 5}
    found = beam_search(model.step, model.cache(4), 3, num_groups=4, diversity=1e3, **arguments)
    greedy = greedy_search(model.step, model.cache(1), 3, max_length=5)
    for example in range(3):
        hypotheses = [words_of(found, example, n) for n in range(4)]
        assert words_of(greedy, example) in hypotheses  # the first group pays nothing
        assert len({words[0] for words in hypotheses}) == 4
        right = [model.log_probability(example, words) for words in hypotheses]
        np.testing.assert_allclose(np.asarray(found.log_probability)[example], right, rtol=1e-4)
        assert right == sorted(right, reverse=True)


@pytest.mark.parametrize(
    "wrong", [{"num_groups": 3}, {"diversity": -1.0}, {"no_repeat_ngram_size": -1}]
)
def test_what_makes_no_sense_is_refused(wrong):
    model = RecurrentWords(batch_size=1, vocabulary_size=9)
    with pytest.raises(ValueError, match="Received"):
        beam_search(model.step, model.cache(4), 1, num_beams=4, max_length=3, **wrong)
