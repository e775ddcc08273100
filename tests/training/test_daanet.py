"""The training of DAANET: the learning rate and the parts of the loss."""

import math

import keras
import pytest

from tests.models import duals
from tfmrc import training
from tfmrc.training import LogWarmup, LossScale


def test_rate_rises_by_an_inverse_exponential_and_stays():
    schedule = LogWarmup()
    for step in (0, 1, 10, 500, 998):
        right = 0.001 * math.log(step + 1) / math.log(1000)
        assert float(schedule(step)) == pytest.approx(right, rel=1e-5)
    for step in (999, 1000, 100_000):
        assert float(schedule(step)) == pytest.approx(0.001, rel=1e-6)
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(schedule))
    assert again.get_config() == {"peak": 0.001, "warmup_steps": 1000}


@pytest.mark.parametrize("warmup_steps", [0, 1])
def test_a_rise_of_at_most_one_update_begins_with_the_peak(warmup_steps):
    schedule = LogWarmup(0.5, warmup_steps)
    assert [float(schedule(step)) for step in (0, 1, 2, 1000)] == [0.5] * 4


def test_a_model_of_one_task_has_its_parts_alone():
    arguments = training.daanet(steps=10, coverage_weight=0.5, model=duals.small(tasks=("ask",)))
    assert arguments["loss_weights"] == {"ask": 1.0, "ask_coverage": 0.5}
    assert set(arguments["loss"]) == {"ask", "ask_coverage"}
    optimizer = arguments["optimizer"]
    assert optimizer.clip_norm == 5.0 and not optimizer.use_ema and optimizer.weight_decay is None
    half = training.daanet(steps=10, model=duals.small(dtype="mixed_float16"))["optimizer"]
    assert isinstance(half, LossScale)
