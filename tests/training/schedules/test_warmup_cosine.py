import math

import keras
import numpy as np
import pytest

from tfmrc.training import WarmupCosine


def expected(t, peak, warmup, steps):
    if t < warmup:
        return peak * t / warmup
    if t >= steps:
        return 0.0
    return peak * 0.5 * (1 + math.cos(math.pi * (t - warmup) / (steps - warmup)))


@pytest.mark.parametrize("warmup, steps", [(2000, 80_000), (0, 10), (5, 6), (300, 1200)])
def test_values_of_the_paper_at_every_kind_of_step(warmup, steps):
    schedule = WarmupCosine(2.5e-4, warmup, steps)
    places = sorted(
        {
            0,
            1,
            warmup // 2,
            max(warmup - 1, 0),
            warmup,
            warmup + 1,
            (warmup + steps) // 2,
            steps - 1,
            steps,
            steps + 5,
        }
    )
    for t in places:
        value = float(schedule(keras.ops.convert_to_tensor(t, "int32")))
        assert value == pytest.approx(expected(t, 2.5e-4, warmup, steps), abs=2.5e-4 * 2e-7)


def test_corners_are_exact():
    schedule = WarmupCosine(2.5e-4, 2000, 80_000)
    peak = float(np.float32(2.5e-4))
    assert [float(schedule(t)) for t in (0, 1000, 2000, 80_000, 90_000)] == [
        0.0,
        peak / 2,
        peak,
        0.0,
        0.0,
    ]


def test_config_round_trip():
    schedule = WarmupCosine(0.1, 3, 9)
    copy = keras.optimizers.schedules.deserialize(keras.optimizers.schedules.serialize(schedule))
    assert isinstance(copy, WarmupCosine)
    assert (
        copy.get_config() == schedule.get_config() == {"peak": 0.1, "warmup_steps": 3, "steps": 9}
    )


def test_drives_the_optimizer():
    weight = keras.Variable([1.0])
    optimizer = keras.optimizers.SGD(WarmupCosine(1.0, 2, 4))
    path = []
    for _ in range(5):
        optimizer.apply([keras.ops.array([1.0])], [weight])
        path.append(float(weight[0]))
    np.testing.assert_allclose(path, [1.0, 0.5, -0.5, -1.0, -1.0], atol=1e-6)


@pytest.mark.parametrize(
    "peak, warmup, steps, word",
    [
        (-1.0, 1, 2, "peak=-1.0"),
        (1.0, 5, 5, "warmup_steps=5, steps=5"),
        (1.0, -1, 5, "warmup_steps=-1"),
    ],
)
def test_what_makes_no_sense_is_refused(peak, warmup, steps, word):
    with pytest.raises(ValueError, match=f"Received: .*{word}"):
        WarmupCosine(peak, warmup, steps)
