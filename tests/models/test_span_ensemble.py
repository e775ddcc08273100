"""An ensemble of span models: the mean of distributions by hand, its spans by enumeration."""

import itertools

import keras
import numpy as np
import pytest

from tfmrc import encoders
from tfmrc.models import SAN, SpanEnsemble
from tfmrc.ops.masking import LOG_ZERO

SIZES = {"word_dim": 6, "units": 3, "align_dim": 4, "num_layers": 1, "num_steps": 2}
INPUTS = {
    "question_ids": np.array([[5, 6, 7], [8, 5, 0]]),
    "passage_ids": np.array([[6, 7, 8, 9], [9, 8, 0, 0]]),
    "exact_match": np.zeros([2, 4, 2], "float32"),
}


def member(seed, **options):
    keras.utils.set_random_seed(seed)
    made = SAN(vocabulary_size=10, seed=seed, **(SIZES | options))
    random = np.random.default_rng(seed)
    for weight in made.trainable_weights:  # clear probabilities
        weight.assign(random.normal(scale=0.8, size=weight.shape))
    return made


@pytest.fixture(scope="module")
def members():
    return [member(1), member(2), member(3, answer="last_step")]


@pytest.fixture(scope="module")
def ensemble(members):
    return SpanEnsemble(members)


def test_mean_of_probabilities_and_its_best_spans(members, ensemble):
    outputs = ensemble(INPUTS)
    single = [model(INPUTS) for model in members]
    mean = {
        name: np.mean([np.exp(np.array(one[name], "float64")) for one in single], axis=0)
        for name in ("begin", "end")
    }
    for name, expected in mean.items():
        np.testing.assert_allclose(np.exp(outputs[name]), expected, atol=1e-6)
        assert (np.array(outputs[name])[1, 2:] < LOG_ZERO / 2).all()
    begin, end, score = (np.array(x) for x in ensemble.spans(outputs, max_length=3, num_spans=2))
    for row, length in enumerate((4, 2)):
        spans = [(i, j) for i, j in itertools.product(range(length), repeat=2) if i <= j < i + 3]
        spans.sort(key=lambda s: -mean["begin"][row, s[0]] * mean["end"][row, s[1]])
        assert list(zip(begin[row], end[row], strict=True)) == spans[:2]
        best = mean["begin"][row, spans[0][0]] * mean["end"][row, spans[0][1]]
        assert np.exp(score[row, 0]) == pytest.approx(best, rel=1e-4)
    # No single member has the ensemble's distribution.
    assert all(np.abs(np.exp(one["begin"]) - mean["begin"]).max() > 0.01 for one in single)


def test_steps_of_all_members_make_the_mean(ensemble):
    found = ensemble.find(INPUTS, num_steps=3, return_steps=True)
    weights = np.array(found["step_weights"])
    assert weights.shape == (2, 9)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    for name in ("begin", "end"):
        steps = np.exp(np.array(found[f"step_{name}"]))
        together = (weights[..., None] * steps).sum(axis=1)
        np.testing.assert_allclose(np.exp(found[name]), together, atol=1e-6)


def test_members_are_copies_and_come_back_from_the_configuration(members, ensemble):
    before = np.array(ensemble(INPUTS)["begin"])
    again = SpanEnsemble.from_config(ensemble.get_config())
    assert [m.name for m in again.members] == ["member_1", "member_2", "member_3"]
    again.set_weights(ensemble.get_weights())
    np.testing.assert_array_equal(again(INPUTS)["begin"], before)
    weight = members[0].trainable_weights[0]
    kept = np.array(weight)
    weight.assign(kept + 1)
    np.testing.assert_array_equal(ensemble(INPUTS)["begin"], before)
    weight.assign(kept)


def test_members_that_read_something_else_are_refused(members):
    other_inputs = member(1, encoder=encoders.from_vocabulary(["owl"], hidden_dim=8))
    for other in (member(1, num_exact_match=0), other_inputs):
        with pytest.raises(ValueError, match="must read the same ids, features and tags"):
            SpanEnsemble([members[0], other])
