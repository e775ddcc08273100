import numpy as np
import pytest

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
