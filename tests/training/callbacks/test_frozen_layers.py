"""Frozen and thawed layers, and the optimizer's state, over a resume."""

import keras
import numpy as np
import pytest

from tests.training import toy
from tfmrc import training


def fit(folder, epochs, frozen=(), seed=1, optimizer=None, graph=False):
    """Trains a small model; eagerly, which takes a fifth of the time, unless `graph`."""
    model = toy.model(dropout=0.2, seed=seed)
    for name in frozen:
        model.get_layer(name).trainable = False
    arguments = training.masque(model=model, steps=40, learning_rate=0.03, warmup_steps=2, ema=0.9)
    if optimizer is not None:
        arguments["optimizer"] = optimizer
    model.compile(**arguments, run_eagerly=not graph)
    checkpoint = training.Checkpoint(folder)
    model.fit(toy.dataset(4), epochs=epochs, shuffle=False, verbose=0, callbacks=[checkpoint])
    return model


def slots(model):
    """Slot and path to value, of the trained weights."""
    return {
        variable.name: np.array(variable)
        for variable in model.optimizer.variables
        if variable.shape and not variable.path.endswith("learning_rate")
    }


def test_a_resumed_run_with_frozen_layers_is_that_of_an_unbroken_one(tmp_path):
    unbroken = fit(tmp_path / "one", 3, frozen=("words", "hidden"), graph=True)
    fit(tmp_path / "two", 1, frozen=("words", "hidden"), graph=True)
    resumed = fit(tmp_path / "two", 3, frozen=("words", "hidden"), seed=5, graph=True)
    for one, two in zip(unbroken.get_weights(), resumed.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    for one, two in zip(unbroken.optimizer.variables, resumed.optimizer.variables, strict=True):
        np.testing.assert_array_equal(np.array(one), np.array(two))


def test_layers_frozen_between_two_runs_stay_and_the_others_keep_their_moments(tmp_path):
    before = fit(tmp_path, 2)
    with pytest.warns(UserWarning, match="Other layers are frozen"):
        restored = fit(tmp_path, 2, frozen=("words",), seed=4)  # restored, not one step further
    moments, known = slots(restored), slots(before)
    assert len(moments) == len(known) - 3 and not any("words" in name for name in moments)
    for name, value in moments.items():
        np.testing.assert_array_equal(value, known[name])
    assert int(restored.optimizer.iterations) == 8
    words = np.array(restored.get_layer("words").get_weights()[0])
    with pytest.warns(UserWarning, match="Other layers are frozen"):
        trained = fit(tmp_path, 3, frozen=("words",), seed=4)
    np.testing.assert_array_equal(trained.get_layer("words").get_weights()[0], words)
    hidden = [m.get_layer("hidden").get_weights()[0] for m in (restored, trained)]
    assert np.abs(hidden[0] - hidden[1]).max() > 0


def test_thawed_layers_begin_with_empty_moments(tmp_path):
    frozen = fit(tmp_path, 2, frozen=("words",))
    with pytest.warns(UserWarning, match="that of thawed weights is initialised"):
        thawed = fit(tmp_path, 2, seed=4)
    # `fit` leaves the averages in the model; those of thawed weights begin with the weights.
    words = [model.get_layer("words").get_weights()[0] for model in (frozen, thawed)]
    np.testing.assert_array_equal(*words)
    moments = {n: v for n, v in slots(thawed).items() if "words" in n and "average" not in n}
    assert len(moments) == 2 and not any(value.any() for value in moments.values())


def test_another_optimizer_is_an_error(tmp_path):
    fit(tmp_path, 1)
    with pytest.raises(ValueError, match="another model or optimizer: its optimizer has"):
        fit(tmp_path, 2, frozen=("words",), optimizer=keras.optimizers.SGD(0.1, momentum=0.9))
