import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from tests.decoding.enumeration import EOS, PAD, RecurrentWords, words_of
from tfmrc.decoding import greedy_search


def best_words(model, example, max_length, min_length):
    """Greedy search by whole prefixes, no cache: the reference."""
    words = []
    while len(words) < max_length and EOS not in words:
        allowed = [w for w in range(4, model.vocabulary_size)]
        if len(words) >= min_length:
            allowed.append(EOS)
        words.append(max(allowed, key=lambda w: model.log_probability(example, [*words, w])))
    return tuple(words)


@pytest.mark.parametrize("min_length", [0, 4, 8])
@pytest.mark.parametrize("seed", range(2))
def test_against_search_by_whole_prefixes(seed, min_length):
    model = RecurrentWords(batch_size=3, vocabulary_size=9, seed=seed)
    result = greedy_search(model.step, model.cache(1), 3, max_length=8, min_length=min_length)
    for example in range(3):
        words = best_words(model, example, 8, min_length)
        assert words_of(result, example) == words
        assert np.all(np.asarray(result.ids)[example, 0, len(words) :] == PAD)
        np.testing.assert_allclose(
            result.log_probability[example, 0], model.log_probability(example, words), rtol=1e-5
        )
    np.testing.assert_array_equal(result.score, result.log_probability)


def test_in_a_graph_with_a_dynamic_batch():
    model = RecurrentWords(batch_size=4, vocabulary_size=9, seed=2)

    @tf.function(input_signature=[tf.TensorSpec([None, 9])], autograph=False)
    def search(bias):
        batch_size = ops.shape(bias)[0]
        cache = {"state": ops.zeros((batch_size, 1, 5)), "fixed": [bias[:, None]]}
        return greedy_search(model.step, cache, batch_size, max_length=6)

    for rows in ([0], [0, 1, 2, 3]):
        graph = search(tf.constant(model.bias[rows]))
        eager = greedy_search(model.step, model.cache(1, rows), len(rows), max_length=6)
        np.testing.assert_array_equal(graph.ids, eager.ids)
    assert search.experimental_get_tracing_count() == 1
