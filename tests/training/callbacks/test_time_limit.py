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


@pytest.mark.parametrize(("steps", "epochs"), [(1, 2), (1, 3), (2, 1), (2, 2)])
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
    assert limit.seconds_per_step == 2.0
    assert limit.seconds == 50 + 2 * (steps * epochs - 1) + 30 * epochs


def test_the_first_step_is_not_measured(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time_limit_module, "time", clock)
    limit = training.TimeLimit(None)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    x = np.zeros((1, 1))
    model.fit(x, x, verbose=0, callbacks=[Durations(clock), limit])
    assert limit.seconds_per_step is None


@pytest.mark.parametrize(("size", "seconds"), [(12, 0.5), (6, 1.0)])  # the last one has 4, and 2
def test_a_step_is_a_part_of_its_execution(monkeypatch, size, seconds):
    clock = Clock()
    monkeypatch.setattr(time_limit_module, "time", clock)
    limit = training.TimeLimit(None)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", steps_per_execution=4)
    x = np.zeros((size, 1))
    model.fit(x, x, batch_size=1, verbose=0, callbacks=[Durations(clock), limit])
    assert limit.seconds_per_step == seconds
