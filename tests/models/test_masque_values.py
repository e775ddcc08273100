"""Masque as a whole against the float64 reference: every number that it gives."""

import math

import numpy as np
import pytest

from tests.layers.weights import randomise
from tests.models import examples, weights
from tests.models.examples import FOUR, G
from tests.reference import masque as reference
from tfmrc.ops.ids import PAD, UNK
from tfmrc.ops.masking import LOG_ZERO

X = examples.batch(FOUR)
LENGTHS = [len(q.answer) + 1 for q in FOUR]
# Decoding feeds back what was said. After an UNK that is [UNK], where teacher forcing knows the
# word that was meant: up to there both see the same words.
COMPARABLE = [
    min([n, *(1 + int(t) for t in np.flatnonzero(row == UNK))])
    for n, row in zip(LENGTHS, X["target_ids"], strict=True)
]


@pytest.fixture(scope="module")
def model():
    model = examples.small()
    randomise(model, seed=3, scale=0.4)
    return model


@pytest.fixture(scope="module")
def expected(model):
    """For each example, what is read and the distribution of each step."""
    v = weights.values(model)
    nested, table, sizes = weights.nested(v), weights.table(v), weights.sizes(model)
    found = []
    for b in range(len(FOUR)):
        source = X["question_ids"][b], X["passage_ids"][b]
        made = reference.read(*source, nested, table, sizes)
        steps = reference.write(
            made, *source, X["extended_ids"][b], FOUR[b].style, X["answer_ids"][b],
            nested, table, sizes,
        )  # fmt: skip
        found.append((made, steps))
    return found


@pytest.mark.equation("masque-11", "masque-12")
def test_relevance_and_answer_possibility(model, expected):
    outputs = model(X)
    for b, (made, _) in enumerate(expected):
        there = np.isfinite(made.ranker)
        got = np.array(outputs["ranker"])[b]
        np.testing.assert_allclose(got[there], made.ranker[there], rtol=1e-4, atol=2e-5)
        np.testing.assert_array_equal(got[~there], np.float32(LOG_ZERO))
        assert float(outputs["classifier"][b]) == pytest.approx(made.classifier, abs=2e-5)


@pytest.mark.equation("masque-13", "masque-17", "masque-18", "masque-19", "masque-20", "masque-21")
def test_log_probability_of_every_target_is_that_of_the_merged_distribution(model, expected):
    got = np.array(model(X)["decoder"])
    for b, (_, steps) in enumerate(expected):
        for t in range(LENGTHS[b]):
            p = steps[t].probabilities[int(X["target_ids"][b, t])]
            assert got[b, t] == pytest.approx(math.log(p), rel=1e-4, abs=2e-5), (b, t)


def decode(model, x, feed):
    """Log-probabilities [B, T, G + S] of each step, the words of `feed` [B, T] being given."""
    memory = model.encode(examples.source_only(x))
    cache = model.init_cache(memory, 1, feed.shape[1])
    found, previous = [], np.full((len(feed), 1), 2, "int32")
    for t in range(feed.shape[1]):
        log_p, cache = model.decode_step(memory, cache, previous, t)
        found.append(np.array(log_p)[:, 0])
        previous = feed[:, t : t + 1]
    return np.stack(found, 1)


@pytest.mark.equation("masque-19")
def test_each_step_gives_the_whole_brute_force_distribution(model, expected):
    log_p = decode(model, X, X["target_ids"])
    np.testing.assert_allclose(np.exp(log_p).sum(-1), 1.0, atol=2e-5)
    assert log_p.shape[-1] == G + X["extended_ids"].shape[1]
    for b, (_, steps) in enumerate(expected):
        for t in range(COMPARABLE[b]):
            right = np.full(log_p.shape[-1], 0.0)
            for word, p in steps[t].probabilities.items():
                right[word] = p
            assert right[PAD] == 0.0
            np.testing.assert_allclose(np.exp(log_p[b, t]), right, atol=2e-6)
            np.testing.assert_array_equal(log_p[b, t] == np.float32(LOG_ZERO), right == 0.0)


def test_explanation_of_given_words(model, expected):
    targets = X["target_ids"]
    memory = model.encode(examples.source_only(X))
    parts = {name: np.array(a) for name, a in model.attribute(memory, targets).items()}
    forced = np.array(model(X)["decoder"])
    for b, (_, steps) in enumerate(expected):
        for t in range(COMPARABLE[b]):
            assert parts["log_probability"][b, t] == pytest.approx(forced[b, t], abs=2e-4)
            np.testing.assert_allclose(parts["mixture"][b, t], steps[t].mixture, atol=2e-5)
            for name in ("question_attention", "passage_attention"):
                right = getattr(steps[t], name)
                np.testing.assert_allclose(parts[name][b, t], right, atol=2e-5)
            total = np.exp(parts["log_parts"][b, t]).sum()
            assert total == pytest.approx(np.exp(forced[b, t]), rel=1e-3)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_example_with_as_many_words_a_passage_as_passages(model, place):
    # Keras' ops.add takes a right side of shape [1, K, 1] for a bias of the last axis if that has
    # K numbers too: every broadcast over a batch of one must be right here.
    passages = [[], [], []]
    passages[place] = [4, -1]
    x = examples.batch([examples.Question([5], passages, [4, -1])])
    assert x["passage_ids"].shape == (1, 3, 3)
    memory = model.encode(examples.source_only(x))
    right = model.attribute(memory, x["target_ids"])["log_probability"]
    outputs = model(x)
    np.testing.assert_allclose(outputs["decoder"], right, atol=2e-5)
    for part in ("ranker", "classifier"):
        np.testing.assert_allclose(outputs[part], memory[part], atol=2e-5)


def test_the_reader_never_sees_the_style(model):
    other = {**X, "style_ids": 1 - X["style_ids"]}
    left, right = model(X), model(other)
    for part in ("ranker", "classifier"):
        np.testing.assert_array_equal(left[part], right[part])
    assert not np.allclose(left["decoder"], right["decoder"], atol=1e-3)
