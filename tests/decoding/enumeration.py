"""Exhaustive search in float64 NumPy, and step functions to search in: the tests' reference."""

from itertools import product

import numpy as np
from keras import ops

from tfmrc.decoding import beam_search

PAD, UNK, BOS, EOS = 0, 1, 2, 3
FORBIDDEN = (PAD, UNK, BOS)


class RecurrentWords:
    """A random language model whose state (the cache) depends on the whole prefix.

    `h_t = tanh(h_{t-1} U + E[y_{t-1}])`, `log P(y_t) = log_softmax(h_t O + c)`, its own `c` for
    each example. `history` in the cache repeats the prefix, so a cache that is not reordered with
    its hypotheses gives other probabilities.
    """

    def __init__(self, batch_size, vocabulary_size, hidden_dim=5, seed=0, sharpness=2.0):
        rng = np.random.default_rng(seed)
        self.batch_size, self.vocabulary_size = batch_size, vocabulary_size
        self.recurrent = rng.normal(size=(hidden_dim, hidden_dim)).astype("float32")
        self.words = rng.normal(size=(vocabulary_size, hidden_dim)).astype("float32")
        self.output = sharpness * rng.normal(size=(hidden_dim, vocabulary_size)).astype("float32")
        self.bias = rng.normal(size=(batch_size, vocabulary_size)).astype("float32")

    def cache(self, num_beams, rows=None):
        bias = self.bias if rows is None else self.bias[rows]
        batch_size, hidden_dim = len(bias), len(self.recurrent)
        return {
            "state": ops.zeros((batch_size, num_beams, hidden_dim)),
            "fixed": [ops.convert_to_tensor(np.repeat(bias[:, None], num_beams, axis=1))],
        }

    def step(self, ids, cache, t):
        state = ops.tanh(ops.matmul(cache["state"], self.recurrent) + ops.take(self.words, ids, 0))
        log_p = ops.log_softmax(ops.matmul(state, self.output) + cache["fixed"][0])
        return log_p, {"state": state, "fixed": cache["fixed"]}

    def search(self, rows=None, *, num_beams, **arguments):
        """Beam search of all examples, or of some."""
        cache = self.cache(num_beams, rows)
        size = len(cache["fixed"][0])
        return beam_search(self.step, cache, size, num_beams=num_beams, **arguments)

    def log_probability(self, example, words):
        """float64 sum of the log-probabilities of `words`."""
        state, last, total = np.zeros(len(self.recurrent)), BOS, 0.0
        for word in words:
            state = np.tanh(state @ self.recurrent.astype("float64") + self.words[last])
            logits = state @ self.output + self.bias[example]
            total += logits[word] - np.logaddexp.reduce(logits)
            last = word
        return total


def every_sequence(vocabulary_size, max_length, min_length=0, forbidden=FORBIDDEN):
    """All word sequences that a search may return."""
    words = [w for w in range(vocabulary_size) if w not in forbidden and w != EOS]
    for length in range(min_length, max_length):
        for prefix in product(words, repeat=length):
            yield (*prefix, EOS)
    yield from product(words, repeat=max_length)


def exhaustive(model, example, max_length, min_length=0, length_penalty=0.0):
    """`[(score, words)]` of all sequences, best first."""
    scored = []
    for words in every_sequence(model.vocabulary_size, max_length, min_length):
        total = model.log_probability(example, words)
        scored.append((total / ((5 + len(words)) / 6) ** length_penalty, words))
    return sorted(scored, key=lambda pair: -pair[0])


def words_of(hypotheses, example, n=0):
    """The words of one hypothesis as a tuple."""
    length = int(hypotheses.lengths[example, n])
    return tuple(np.asarray(hypotheses.ids)[example, n, :length].tolist())
