"""Laws of the whole model for any question, passages and answer."""

from dataclasses import replace
from functools import cache

import numpy as np
from hypothesis import given, settings, strategies as st

from tests.layers.weights import randomise
from tests.models import examples
from tests.models.examples import G, Question
from tfmrc.ops.ids import PAD
from tfmrc.ops.masking import LOG_ZERO

QUICK = settings(max_examples=6, deadline=None)
WORDS = st.one_of(st.integers(4, 16), st.integers(-3, -1))
TEXTS = st.lists(WORDS, max_size=4)


@cache
def model():
    built = examples.small(num_decoder_blocks=1)
    randomise(built, seed=11, scale=0.4)
    return built


@st.composite
def questions(draw):
    return Question(
        draw(TEXTS),
        draw(st.lists(TEXTS, max_size=3)),
        draw(st.lists(WORDS, min_size=1, max_size=3)),
        draw(st.integers(0, 1)),
    )


def first_step(question):
    x = examples.batch([question])
    memory = model().encode(examples.source_only(x))
    cache = model().init_cache(memory, 1, 1)
    log_p, _ = model().decode_step(memory, cache, np.full((1, 1), 2, "int32"), 0)
    return x, np.array(log_p)[0, 0]


@QUICK
@given(questions())
def test_first_word_has_a_distribution_over_what_can_be_said(question):
    x, log_p = first_step(question)
    assert abs(np.exp(log_p).sum() - 1.0) < 1e-4
    first = {int(i) for i in x["extended_ids"][0] if i >= G}
    sayable = set(range(G)) - {0, 2} | first
    assert {int(i) for i in np.flatnonzero(log_p > LOG_ZERO)} == sayable
    forced = np.array(model()(x)["decoder"])[0, 0]
    assert abs(forced - log_p[x["target_ids"][0, 0]]) < 1e-3


@QUICK
@given(questions(), questions())
def test_company_and_padding_do_not_matter(question, other):
    alone = {name: np.array(a) for name, a in model()(examples.batch([question])).items()}
    x = examples.batch([other, question], longer=1)
    together = {name: np.array(a)[1:] for name, a in model()(x).items()}
    words = len(question.answer) + 1
    np.testing.assert_allclose(
        together["decoder"][:, :words], alone["decoder"][:, :words], rtol=1e-3, atol=1e-4
    )
    for part in ("ranker", "classifier"):
        np.testing.assert_allclose(together[part], alone[part], rtol=1e-3, atol=1e-4)


@QUICK
@given(questions(), st.permutations(range(3)))
def test_order_of_the_passages_does_not_matter_to_the_answer(question, order):
    passages = [*question.passages, *[[]] * (3 - len(question.passages))]
    left = replace(question, passages=passages)
    right = replace(question, passages=[passages[k] for k in order])
    before, after = (model()(examples.batch([q])) for q in (left, right))
    np.testing.assert_allclose(after["decoder"], before["decoder"], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(
        after["ranker"], np.array(before["ranker"])[:, order], rtol=1e-3, atol=1e-4
    )


@QUICK
@given(questions(), st.integers(0, 5))
def test_later_words_of_the_answer_do_not_change_earlier_ones(question, word):
    x = examples.batch([question])
    changed = {name: a.copy() for name, a in x.items()}
    changed["answer_ids"][0, -1] = changed["target_ids"][0, -1] = 4 + word
    before, after = (np.array(model()(a)["decoder"])[0] for a in (x, changed))
    np.testing.assert_allclose(after[:-1], before[:-1], rtol=1e-4, atol=1e-5)
    assert x["target_ids"][0, -1] != PAD
