"""The averaged weights of SAN's training, in NumPy."""

import keras
import numpy as np

from tfmrc import models, training
from tfmrc.training.callbacks.ema_weights import average_pairs

BATCH = {
    "question_ids": np.array([[5, 6], [7, 0]]),
    "passage_ids": np.array([[6, 8, 5], [8, 7, 0]]),
}
LABELS = {"begin": np.array([0, 1]), "end": np.array([2, 1])}


def test_averages_are_those_of_the_weights_after_each_update():
    keras.utils.set_random_seed(1)
    model = models.SAN(
        vocabulary_size=9, word_dim=4, units=2, align_dim=2, num_layers=1, num_exact_match=0,
        answer="one_step", seed=1,
    )  # fmt: skip
    model.compile(**training.san(model=model, steps=100, learning_rate=0.1, ema=0.8))
    expected = None
    for _ in range(4):
        model.train_on_batch(BATCH, LABELS)
        pairs = average_pairs(model)
        weights = [np.array(weight, "float64") for weight, _ in pairs]
        if expected is None:
            expected = weights
        expected = [0.8 * a + 0.2 * w for a, w in zip(expected, weights, strict=True)]
    assert len(pairs) == len(model.trainable_variables)
    for (_, average), value in zip(pairs, expected, strict=True):
        np.testing.assert_allclose(average, value, atol=1e-6)
    assert max(abs(np.array(w) - np.array(a)).max() for w, a in pairs) > 0.01
    with training.ema_weights(model):
        for (weight, _), value in zip(pairs, expected, strict=True):
            np.testing.assert_allclose(weight, value, atol=1e-6)
