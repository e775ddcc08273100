"""The training of DAANET: the learning rate and the parts of the loss."""

import math

import keras
import pytest

from tests.models import duals, subwords
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
    for wrong in ({"peak": -1.0}, {"warmup_steps": -1}):
        with pytest.raises(ValueError, match="Received"):
            LogWarmup(**wrong)


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


def test_a_model_with_an_encoder_is_fine_tuned():
    model = duals.small(encoder=subwords.encoder(), tasks=("ask",))
    arguments = training.daanet(model=model, steps=100, coverage_weight=0.3)
    optimizer = arguments["optimizer"]
    rate = optimizer.get_config()["learning_rate"]["config"]
    assert (rate["warmup_target"], rate["warmup_steps"], rate["decay_steps"]) == (0.001, 10, 90)
    assert (optimizer.weight_decay, optimizer.clip_norm, optimizer.use_ema) == (0.01, 5.0, False)
    factors = list(optimizer.learning_rate_multipliers.values())
    assert factors == pytest.approx([0.1] * len(factors))
    assert arguments["loss_weights"] == {"ask": 1.0, "ask_coverage": 0.3}
    averaged = training.daanet(model=model, steps=100, ema=0.9)["optimizer"]
    assert (averaged.use_ema, averaged.ema_momentum) == (True, 0.9)
