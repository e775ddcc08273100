"""Keras' cosine decay with warm-up gives the rates of Masque's paper at every step."""

import math

import keras
import numpy as np
import pytest

from tfmrc.training.schedules.warmup_cosine import warmup_cosine


def expected(t, peak, warmup, steps):
    if t < warmup:
        return peak * t / warmup
    if t >= steps:
        return 0.0
    return peak * 0.5 * (1 + math.cos(math.pi * (t - warmup) / (steps - warmup)))


@pytest.mark.parametrize("warmup, steps", [(30, 100), (0, 10), (1, 2), (1, 10), (5, 6)])
def test_the_rate_of_every_step(warmup, steps):
    schedule = warmup_cosine(2.5e-4, warmup, steps)
    for t in range(steps + 5):
        value = float(schedule(keras.ops.convert_to_tensor(t, "int32")))
        assert value == pytest.approx(expected(t, 2.5e-4, warmup, steps), abs=2.5e-4 * 2e-7)


def test_corners_of_the_papers_schedule_are_exact():
    schedule = warmup_cosine(2.5e-4, 2000, 80_000)
    peak = float(np.float32(2.5e-4))
    rates = [float(schedule(t)) for t in (0, 1000, 2000, 80_000, 90_000)]
    assert rates == [0.0, peak / 2, peak, 0.0, 0.0]
