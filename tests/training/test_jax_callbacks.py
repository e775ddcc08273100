"""Checkpoints within an epoch, and the check of each step, where JAX keeps the state of `fit`."""

import pytest

from tests import fresh_python

PROGRAM = """
import sys
import keras
import numpy as np
from tfmrc import training
from tfmrc.utils import keras_private

folder = sys.argv[1]
x, y = np.ones((12, 2), "float32"), np.ones((12, 1), "float32")

def compiled():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="dense")])
    model.compile(training.AdamW(0.1), "mse")
    return model

class Watch(keras.callbacks.Callback):
    seen = []
    def on_train_batch_end(self, batch, logs=None):
        values = keras_private.trained_values(self.model)
        keras_private.sync_state(self.model)
        for value, variable in zip(values, self.model.trainable_variables, strict=True):
            np.testing.assert_array_equal(value, variable.value)
        self.seen.append(np.array(self.model.get_layer("dense").kernel))

class Killed(BaseException):
    pass

class Kill(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 4:
            raise Killed

def fit(model, *more, name, x=x):
    run = training.callbacks(f"{folder}/{name}", monitor=None, every_steps=3)
    model.fit(x, y, batch_size=2, epochs=2, shuffle=False, verbose=0, callbacks=[*run, *more])
    return [np.array(weight) for weight in model.get_weights()]

whole = fit(compiled(), Watch(), name="whole")
assert len(Watch.seen) == 12 and len({kernel.tobytes() for kernel in Watch.seen}) == 12
try:
    fit(compiled(), Kill(), name="killed")
except Killed:
    pass
run = training.Checkpoint(f"{folder}/killed/checkpoints")
assert run.step == 3, run.step
for resumed, expected in zip(fit(compiled(), name="killed"), whole, strict=True):
    np.testing.assert_array_equal(resumed, expected)
wrong = x.copy()
wrong[8:] = np.nan
try:
    fit(compiled(), name="wrong", x=wrong)
except training.NonFiniteError as error:
    print(error, keras.backend.backend())
"""


@pytest.mark.slow
def test_a_killed_run_and_numbers_that_are_not_finite(tmp_path):
    said = fresh_python.run("-c", PROGRAM, tmp_path, KERAS_BACKEND="jax")
    assert "At step 5 the loss `loss` (nan)" in said and "step-0000000003" in said
    assert said.endswith("jax")
