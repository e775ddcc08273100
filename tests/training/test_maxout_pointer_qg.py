"""The paper's training of question generation: schedule, momentum, clipping."""

import keras
import numpy as np
import pytest

from tests.models import questions
from tfmrc import training
from tfmrc.losses import SequenceNLL


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
