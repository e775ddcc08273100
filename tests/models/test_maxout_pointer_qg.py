"""Every variant by argument: values, training, decoding, padding."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.layers.weights import randomise
from tests.models import questions
from tests.models.generation import (
    assert_scores_are_those_of_the_words,
    assert_steps_equal_teacher_forcing,
)
from tests.models.questions import FOUR, X
from tests.reference import question_generation as reference
from tfmrc.losses import SequenceMean, SequenceNLL
from tfmrc.models import MaxoutPointerQG
from tfmrc.ops.ids import PAD, UNK
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import run_model_test

TARGETS = X["target_ids"]
VARIANTS = [name for name in MaxoutPointerQG.presets if "s2s" in name]


@pytest.fixture(scope="module", params=VARIANTS)
def variant(request):
    return drawn(request.param)


@pytest.fixture(scope="module", params=[VARIANTS[0], VARIANTS[-1]])
def model(request):
    return drawn(request.param)


def drawn(name):
    model = questions.small(**MaxoutPointerQG.PRESETS[name].arguments)
    randomise(model, seed=3, scale=0.5)
    return model


def compiled(model, rate=1e-2, **options):
    losses = {"decoder": SequenceNLL(), "coverage": SequenceMean()}
    names = ["decoder", "coverage"][: 1 + model.has_coverage]
    model.compile(keras.optimizers.Adam(rate), {n: losses[n] for n in names}, **options)
    return {name: TARGETS for name in names}


@pytest.mark.equation("qg-01", "qg-07", "qg-08", "qg-13", "qg-14")
def test_log_probabilities_of_every_variant(variant):
    got = np.array(variant(X)["decoder"])
    for b, a in enumerate(FOUR):
        right = questions.expected(variant, b)
        np.testing.assert_allclose(got[b, : len(a.question) + 1], right, rtol=2e-4, atol=2e-5)


def test_steps_equal_teacher_forcing(model):
    source, forced = questions.source_only(X), model(X)["decoder"]
    assert_steps_equal_teacher_forcing(model, source, TARGETS, forced, bool(model.copy))


def test_generated_questions_their_scores_and_the_batch(model):
    assert_scores_are_those_of_the_words(
        model,
        questions.source_only(X),
        alone=lambda b: questions.source_only(questions.batch(FOUR[b : b + 1])),
    )


def test_what_any_model_owes_its_user():
    run_model_test(
        MaxoutPointerQG,
        {**questions.SIZES, "coverage": True, "num_layers": 1},
        X,
        compile_kwargs={
            "optimizer": "adam",
            "loss": {"decoder": SequenceNLL(), "coverage": SequenceMean()},
            "run_eagerly": True,  # it learns by heart in the graph
        },
        targets={"decoder": TARGETS, "coverage": TARGETS},
        axes={n: "B T" if n in ("question_ids", "target_ids") else "B M" for n in X},
        output_axes={"decoder": "B T", "coverage": "B T"},
        padded=[{"M": 2}],
    )


def test_coverage_is_that_of_the_attention():
    model = questions.small(coverage=True)
    randomise(model, seed=3, scale=0.5)
    memory = model.encode(questions.source_only(X))
    attention = np.array(model.attribute(memory, TARGETS)["attention"])
    np.testing.assert_allclose(attention.sum(-1), 1.0, atol=1e-5)
    got = np.array(model(X)["coverage"])
    for b in (1, 3):  # the others hold a word that is read as another one when it is explained
        n = len(FOUR[b].question) + 1
        right = reference.coverage(attention[b, :n].astype(float))
        np.testing.assert_allclose(got[b, :n], right, atol=1e-5)


@pytest.mark.equation("qg-02")
@pytest.mark.parametrize("in_graph", [False, True])
def test_a_coverage_penalty_is_what_the_attention_says(in_graph):
    model = drawn("maxout_pointer_qg_s2s_a_at_mp")
    memory = model.encode(questions.source_only(X))

    def search(memory, **options):
        return model.generate(memory, 4, num_beams=6, num_return_sequences=6, **options)

    found = (tf.function(search, autograph=False) if in_graph else search)(
        memory, coverage_penalty=3.0
    )
    ids = np.array(found.ids)
    price = np.zeros(ids.shape[:2])
    for n in range(6):
        attention = np.array(model.attribute(memory, ids[:, n])["attention"])
        attention = attention * (ids[:, n] != PAD)[..., None]
        price[:, n] = np.maximum(attention.sum(axis=1) - 1.0, 0.0).sum(axis=-1)
    assert price.max() > 0.1
    score = np.array(found.log_probability) - 3.0 * price
    np.testing.assert_allclose(found.score, score, rtol=1e-4)
    assert (np.diff(score, axis=1) <= 1e-5).all()
    plain = search(memory)
    np.testing.assert_allclose(plain.score, plain.log_probability)
    assert not np.array_equal(plain.ids, ids)


def test_samples_of_questions_say_their_own_probability():
    model = drawn("maxout_pointer_qg_s2s_a_at_mp")
    memory = model.encode(questions.source_only(X))
    found = model.generate(
        memory, 4, num_beams=5, num_return_sequences=3, sampling={"temperature": 2.0}
    )
    for n in range(3):
        explained = model.attribute(memory, np.array(found.ids)[:, n])["log_probability"]
        explained = np.where(np.array(found.ids)[:, n] == PAD, 0.0, explained).sum(axis=-1)
        np.testing.assert_allclose(found.log_probability[:, n], explained, rtol=1e-4)


def test_impossible_targets_are_counted_and_left_out():
    model = questions.small(num_layers=1)
    targets = TARGETS.copy()
    targets[1, 0] = 15  # behind the two words of the passage
    x = {**X, "target_ids": targets}
    log_p = np.array(model(x)["decoder"])
    real = (targets != PAD) & (log_p > LOG_ZERO / 2)
    model.compile(keras.optimizers.SGD(0.0), {"decoder": SequenceNLL()})
    with pytest.warns(UserWarning, match="^1 targets so far can be neither"):
        history = model.fit(x, {"decoder": targets}, verbose=0).history
    expected = -np.mean((log_p * real).sum(-1) / real.sum(-1))
    assert history == {"loss": [pytest.approx(expected, rel=1e-5)]}
    with pytest.raises(ValueError, match="no targets .* Received: 1 of 28"):
        SequenceNLL()(targets, log_p)


def test_self_attention_map():
    model = questions.small()
    weights = model.attention(X)["gated_self_attention"]
    assert weights.shape == (4, 7, 7)
    np.testing.assert_allclose(weights.sum(-1)[0], 1.0, atol=1e-5)
    np.testing.assert_array_equal(weights[1, :, 2:], 0.0)  # a passage of two words


def test_four_questions_by_heart():
    model = questions.small(hidden_dim=16, word_dim=12, num_layers=1)
    y = compiled(model, rate=3e-2)
    for _ in range(60):
        losses = model.train_on_batch(X, y, return_dict=True)
    assert losses["loss"] < 0.05
    memory = model.encode(questions.source_only(X))
    known = (TARGETS != UNK).all(-1)
    for beams in (1, 3):
        ids = np.array(model.generate(memory, TARGETS.shape[1], num_beams=beams).ids)[:, 0]
        np.testing.assert_array_equal(ids[known], TARGETS[known])
