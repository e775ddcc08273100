"""Words drawn by their probabilities."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from tests.decoding.enumeration import EOS, RecurrentWords, words_of
from tfmrc.decoding import greedy_search, sample

P = np.array([1e-9, 1e-9, 1e-9, 0.1, 0.4, 0.3, 0.15, 0.05])


def one_word(ids, cache, t):
    row = np.log(P).astype("float32")
    return ops.broadcast_to(row, (*ops.shape(ids), len(P))), cache


def selected(p, temperature=1.0, top_k=0, top_p=1.0):
    """The distribution that is drawn from, in float64."""
    p = np.where(np.arange(len(p)) < 3, 0.0, p) ** (1 / temperature)
    p, order = p / p.sum(), np.argsort(-p, kind="stable")
    if top_k:
        p[order[top_k:]] = 0.0
    p /= p.sum()
    before = np.cumsum(p[order]) - p[order]
    p[order[before >= top_p]] = 0.0
    return p / p.sum()


@pytest.mark.parametrize(
    "cut",
    [{}, {"temperature": 0.6}, {"temperature": 2.0, "top_k": 3}, {"top_p": 0.75},
     {"top_k": 4, "top_p": 0.8}, {"top_k": 99}],
)  # fmt: skip
def test_words_come_as_often_as_the_distribution_says(cut):
    count = 20_000
    result = sample(one_word, (), 1, num_samples=count, max_length=1, seed=3, **cut)
    often = np.bincount(np.asarray(result.ids).ravel(), minlength=len(P)) / count
    right = selected(P, **cut)
    assert not often[right == 0].any()
    np.testing.assert_allclose(often, right, atol=4 * np.sqrt(0.25 / count))


@pytest.mark.parametrize("cut", [{"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-3}])
def test_a_narrow_cut_is_greedy_search(cut):
    model = RecurrentWords(batch_size=3, vocabulary_size=9, seed=2)
    greedy = greedy_search(model.step, model.cache(1), 3, max_length=6, min_length=2)
    result = sample(model.step, model.cache(2), 3, num_samples=2, max_length=6, min_length=2, **cut)
    for n in range(2):
        np.testing.assert_array_equal(np.asarray(result.ids)[:, n], np.asarray(greedy.ids)[:, 0])
    np.testing.assert_allclose(result.score[:, 0], greedy.score[:, 0], rtol=1e-6)


def test_samples_say_their_own_probability_whatever_is_beside_them():
    model = RecurrentWords(batch_size=3, vocabulary_size=9, seed=2, sharpness=0.5)
    arguments = {"num_samples": 8, "max_length": 6, "min_length": 2, "no_repeat_ngram_size": 1}
    result = sample(model.step, model.cache(8), 3, **arguments)
    for example in range(3):
        hypotheses = [words_of(result, example, n) for n in range(8)]
        assert len(set(hypotheses)) > 3
        assert all(len(set(words)) == len(words) for words in hypotheses)
        right = [model.log_probability(example, words) for words in hypotheses]
        np.testing.assert_allclose(np.asarray(result.log_probability)[example], right, rtol=1e-4)
        assert right == sorted(right, reverse=True)
        alone = sample(model.step, model.cache(8, [example]), 1, **arguments)
        np.testing.assert_array_equal(alone.ids[0], result.ids[example])
    few = sample(model.step, model.cache(8), 3, num_return_sequences=2, **arguments)
    np.testing.assert_array_equal(few.ids, result.ids[:, :2])
    other = sample(model.step, model.cache(8), 3, seed=1, **arguments)
    assert not np.array_equal(other.ids, result.ids)


@pytest.mark.parametrize("top_k", [0, 20])
def test_in_a_graph_with_a_dynamic_batch_and_vocabulary(top_k):
    model = RecurrentWords(batch_size=3, vocabulary_size=9, seed=2)

    @tf.function(input_signature=[tf.TensorSpec([None, None])], autograph=False)
    def draw(bias):
        batch_size = ops.shape(bias)[0]
        fixed = ops.repeat(bias[:, None], 4, axis=1)
        cache = {"state": ops.zeros((batch_size, 4, 5)), "fixed": [fixed]}

        def step(ids, cache, t):
            log_p, cache = model.step(ids, cache, t)
            log_p = log_p[..., : ops.shape(bias)[1]]
            assert log_p.shape[-1] is None
            return log_p, cache

        return sample(step, cache, batch_size, num_samples=4, max_length=6, top_k=top_k)

    for rows in ([0], [0, 1, 2]):
        graph = draw(tf.constant(model.bias[rows]))
        cache, cut = model.cache(4, rows), {"top_k": top_k if top_k < 9 else 0}
        eager = sample(model.step, cache, len(rows), num_samples=4, max_length=6, **cut)
        np.testing.assert_array_equal(graph.ids, eager.ids)


def test_everything_forbidden_ends():
    result = sample(
        one_word, (), 2, num_samples=3, max_length=4, forbidden_ids=(0, 1, 2, 4, 5, 6, 7)
    )
    assert words_of(result, 1, 2) == (EOS,)


def test_the_numbers_of_a_seed_are_the_same_when_xla_compiles_them():
    model = RecurrentWords(batch_size=3, vocabulary_size=9, seed=2, sharpness=0.5)

    def draw():
        return sample(model.step, model.cache(8), 3, num_samples=8, max_length=5, seed=4)

    plain, compiled = (tf.function(draw, jit_compile=jit)() for jit in (False, True))
    np.testing.assert_array_equal(plain.ids, compiled.ids)
