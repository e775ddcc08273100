"""Symmetries of the dual attention."""

from functools import cache

import numpy as np
from hypothesis import given, settings, strategies as st

from tests.layers.weights import randomise
from tfmrc.layers import DualAttention

B, K, L, J, D = 1, 3, 4, 3, 2
QUICK = settings(max_examples=15, deadline=None)


@cache
def layer():
    built = DualAttention()
    built.build((B, K, L, D), (B, J, D))
    randomise(built, scale=1.0)
    return built


@st.composite
def examples(draw):
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    words = draw(st.lists(st.integers(0, L), min_size=K, max_size=K))
    asked = draw(st.integers(0, J))
    return (
        random.normal(size=(B, K, L, D)).astype("float32"),
        random.normal(size=(B, J, D)).astype("float32"),
        np.array([[np.arange(L) < n for n in words]]),
        np.array([np.arange(J) < asked]),
    )


@QUICK
@given(examples(), st.permutations(range(K)))
def test_order_of_the_passages(example, order):
    passages, question, passage_mask, question_mask = example
    before = layer()(*example)
    after = layer()(passages[:, order], question, passage_mask[:, order], question_mask)
    np.testing.assert_allclose(after[0], np.array(before[0])[:, order], atol=1e-5)
    np.testing.assert_allclose(after[1], before[1], atol=1e-5)


@QUICK
@given(examples(), st.permutations(range(J)), st.permutations(range(L)))
def test_order_of_the_words(example, asked, order):
    # The formulas see no order: with the masks moved along, so are the results.
    passages, question, passage_mask, question_mask = example
    before = layer()(*example)
    after = layer()(
        passages[:, :, order],
        question[:, asked],
        passage_mask[:, :, order],
        question_mask[:, asked],
    )
    np.testing.assert_allclose(after[0], np.array(before[0])[:, :, order], atol=1e-5)
    np.testing.assert_allclose(after[1], np.array(before[1])[:, asked], atol=1e-5)


@QUICK
@given(examples(), st.integers(0, 10_000))
def test_what_stands_at_padding_does_not_matter(example, seed):
    passages, question, passage_mask, question_mask = example
    random = np.random.default_rng(seed)
    other = (
        np.where(passage_mask[..., None], passages, 9 * random.normal(size=passages.shape)),
        np.where(question_mask[..., None], question, 9 * random.normal(size=question.shape)),
    )
    before = layer()(*example)
    after = layer()(*(a.astype("float32") for a in other), passage_mask, question_mask)
    for left, right, mask in zip(after, before, (passage_mask, question_mask), strict=True):
        np.testing.assert_allclose(np.array(left)[mask], np.array(right)[mask], atol=1e-5)


@QUICK
@given(examples())
def test_a_passage_twice_says_no_more_than_once(example):
    passages, question, passage_mask, question_mask = example
    twice = (
        np.concatenate([passages, passages], 1),
        question,
        np.concatenate([passage_mask, passage_mask], 1),
        question_mask,
    )
    np.testing.assert_allclose(layer()(*twice)[1], layer()(*example)[1], atol=1e-5)
