"""The time of a step, on a clock that only steps and validation advance."""

import keras
import numpy as np
import pytest

from tfmrc import training
from tfmrc.training.callbacks import time_limit as time_limit_module


class Clock:
    seconds = 0.0

    def monotonic(self):
        return self.seconds


class Durations(keras.callbacks.Callback):
    """The first step, which builds the graph, takes 50 seconds, others 2, and validation 30."""

    def __init__(self, clock):
        super().__init__()
        self.clock, self.is_first = clock, True

    def on_train_batch_end(self, batch, logs=None):
        self.clock.seconds += 50.0 if self.is_first else 2.0
        self.is_first = False

    def on_test_end(self, logs=None):
        self.clock.seconds += 30.0


@pytest.mark.parametrize(("steps", "epochs"), [(1, 1), (1, 2), (2, 2)])
def test_a_step_is_measured_without_validation(monkeypatch, steps, epochs):
    clock = Clock()
    monkeypatch.setattr(time_limit_module, "time", clock)
    limit = training.TimeLimit(None)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    x = np.zeros((steps, 1))
    model.fit(
        x, x, batch_size=1, epochs=epochs, verbose=0, validation_data=(x, x),
        callbacks=[Durations(clock), limit],
    )  # fmt: skip
    # The first step is not measured.
    assert limit.seconds_per_step == (2.0 if steps * epochs > 1 else None)
    assert limit.seconds == 50 + 2 * (steps * epochs - 1) + 30 * epochs
