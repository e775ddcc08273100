"""The paper's training of question generation: schedule, momentum, clipping, checkpoint rule."""

import re

import keras
import numpy as np
import pytest

from tests.models import questions, subwords
from tests.training.callbacks.test_best_checkpoint import run
from tfmrc import training
from tfmrc.losses import SequenceNLL
from tfmrc.training.maxout_pointer_qg import halvings


def rates_of(optimizer, steps):
    rates = []
    for step in range(steps):
        optimizer.iterations.assign(step)
        rates.append(float(optimizer.learning_rate))
    return rates


def test_rate_of_the_papers_twenty_epochs():
    optimizer = training.maxout_pointer_qg(steps=7 * 20, steps_per_epoch=7)["optimizer"]
    rates = rates_of(optimizer, 7 * 20)
    for epoch in range(1, 21):
        expected = 0.1 * 0.5 ** max(0, (epoch - 6) // 2)
        np.testing.assert_allclose(rates[7 * (epoch - 1) : 7 * epoch], expected, rtol=1e-6)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert rates_of(again, 7 * 20) == rates
    # Without the number of updates per epoch, `steps` are the paper's 20 epochs.
    assert rates_of(training.maxout_pointer_qg(steps=7 * 20)["optimizer"], 7 * 20) == rates


@pytest.mark.parametrize(("first", "every"), [(8, 2), (3, 1), (1, 1), (30, 5)])
def test_every_step_has_the_rate_of_its_epoch(first, every):
    schedule = halvings(0.1, steps=100, steps_per_epoch=5, first_epoch=first, every=every)
    for step in range(100):
        epoch = step // 5 + 1
        count = max(0, (epoch - first) // every + 1)
        assert float(schedule(step)) == np.float32(0.1 * 0.5**count)


@pytest.mark.parametrize("clip", [None, 0.5])
def test_updates_are_nesterovs_with_the_clipped_gradient(clip):
    optimizer = training.SGD(0.1, momentum=0.9, clip_norm=clip)
    weight = keras.Variable(np.array([1.0, -2.0], "float32"))
    value, velocity = np.array([1.0, -2.0]), np.zeros(2)
    for gradient in ([3.0, 4.0], [0.1, -0.2], [-1.0, 0.5]):
        optimizer.apply([keras.ops.array(gradient)], [weight])
        g = np.array(gradient)
        if clip is not None:
            g = g * min(1.0, clip / np.linalg.norm(g))
        velocity = 0.9 * velocity - 0.1 * g
        value = value + 0.9 * velocity - 0.1 * g
        np.testing.assert_allclose(keras.ops.convert_to_numpy(weight), value, rtol=1e-5)
    again = training.SGD.from_config(optimizer.get_config())
    assert again.clip_norm == clip and again.nesterov


def test_numbers_out_of_range_are_refused():
    for arguments in ({"clip_norm": 0.0}, {"clipnorm": 1.0}, {"clipvalue": 1.0}):
        with pytest.raises(ValueError, match="Received"):
            training.SGD(**arguments)
    with pytest.raises(ValueError, match="halving_every=0"):
        training.maxout_pointer_qg(steps=10, halving_every=0)


@pytest.mark.parametrize(
    ("perplexities", "kept"),
    [([9, 5, 4, 3, 6, 7], 4), ([9, 8, 7, 6, 5, 4], 5), ([1, 2, 3, 4, 5, 6], 3), ([2, 9], 1)],
)
def test_of_the_four_best_epochs_the_last_one_is_kept(tmp_path, perplexities, kept):
    weight, best, _ = run(tmp_path / "kept.weights.h5", perplexities, among=4)
    assert (weight, best.best_epoch, best.best) == (kept, kept, min(perplexities))
    # The rule, as the paper says it.
    four = np.argsort(perplexities, kind="stable")[:4]
    assert kept == max(four)


def test_state_of_the_rule_survives_a_resume(tmp_path):
    _, best, _ = run(tmp_path / "kept.weights.h5", [3, 2, 5], among=2)
    other = training.BestCheckpoint(tmp_path / "kept.weights.h5", "score", among=2)
    other.set_state(best.get_state())
    assert other.values == [2, 3] and other.best_epoch == 1
    with pytest.raises(ValueError, match="among=0"):
        training.BestCheckpoint(tmp_path / "x.weights.h5", among=0)


def test_loss_is_the_mean_over_words_and_falls():
    keras.utils.set_random_seed(1)
    model = questions.small(coverage=True, num_layers=1)
    x = questions.batch(questions.FOUR)
    counts = (x["target_ids"] != 0).sum(1)
    weight = (counts / counts.mean()).astype("float32")
    per_word = np.array(model(x)["decoder"])[x["target_ids"] != 0]
    loss = SequenceNLL()(x["target_ids"], model(x)["decoder"], sample_weight=weight)
    assert float(loss) == pytest.approx(-per_word.mean(), rel=1e-5)

    model.compile(**training.maxout_pointer_qg(steps=2000, clip_norm=5.0, model=model))
    names = ("decoder", "coverage")
    y, weights = {n: x["target_ids"] for n in names}, {n: weight for n in names}
    losses = [model.train_on_batch(x, y, weights, return_dict=True)["loss"] for _ in range(60)]
    assert losses[-1] < 0.8 * losses[0]


def test_a_model_with_an_encoder_is_fine_tuned():
    model = questions.small(encoder=subwords.encoder(num_layers=2), coverage=True)
    arguments = training.maxout_pointer_qg(model=model, steps=100, coverage_weight=0.5)
    optimizer = arguments["optimizer"]
    assert isinstance(optimizer, training.AdamW)
    rate = optimizer.get_config()["learning_rate"]["config"]
    assert (rate["warmup_target"], rate["warmup_steps"], rate["decay_steps"]) == (0.001, 10, 90)
    assert (optimizer.weight_decay, optimizer.clip_norm) == (0.01, 1.0)
    factors = optimizer.learning_rate_multipliers
    # The layers of the paper's own encoder, `encoder_1` and `encoder_2`, are none of the encoder.
    for variable in model.trainable_variables:
        factor = next((f for path, f in factors.items() if re.search(path, variable.path)), 1.0)
        assert factor == pytest.approx(0.1 if variable.path.startswith("encoder/") else 1.0)
    assert arguments["loss_weights"] == {"decoder": 1.0, "coverage": 0.5}
    slower = training.maxout_pointer_qg(
        model=model, steps=100, learning_rate=0.01, encoder_learning_rate=0.001, layer_decay=0.5,
        clip_norm=5.0,
    )["optimizer"]  # fmt: skip
    assert slower.clip_norm == 5.0
    assert sorted(set(slower.learning_rate_multipliers.values())) == [0.025, 0.05, 0.1]
