"""The training of Masque with a pretrained encoder: rates, warm-up and averages of its own."""

import keras
import pytest

from tests.models import encoded, examples
from tfmrc import training


def test_an_encoder_is_trained_with_a_rate_of_its_own():
    model = encoded.make()[0]
    arguments = training.masque(model=model, steps=100)
    optimizer = arguments["optimizer"]
    schedule = optimizer.get_config()["learning_rate"]["config"]
    assert schedule["warmup_target"] == 0.001
    assert (schedule["warmup_steps"], schedule["decay_steps"]) == (10, 90)
    assert (optimizer.weight_decay, optimizer.clip_norm) == (0.01, 1)
    assert (optimizer.use_ema, optimizer.ema_momentum) == (True, 0.998)
    factors = optimizer.learning_rate_multipliers
    assert list(factors.values()) == pytest.approx([0.1] * len(factors))
    assert arguments["loss_weights"] == {"decoder": 1.0, "ranker": 0.5, "classifier": 0.1}
    optimizer.build(model.trainable_variables)
    keras.backend.clear_session()


def test_rates_fall_from_layer_to_layer_and_what_is_given_counts():
    optimizer = training.compile_arguments(
        encoded.make(num_layers=2)[0],
        steps=100,
        learning_rate=0.002,
        encoder_learning_rate=0.001,
        layer_decay=0.5,
        warmup_steps=30,
        ema=0,
    )["optimizer"]
    schedule = optimizer.get_config()["learning_rate"]["config"]
    assert (schedule["warmup_target"], schedule["warmup_steps"]) == (0.002, 30)
    assert not optimizer.use_ema
    with pytest.raises(ValueError, match="Received: warmup_steps=100, steps=100"):
        training.masque(model=encoded.make()[0], steps=100, warmup_steps=100)
    factors = optimizer.learning_rate_multipliers
    top, below = (
        next(factor for path, factor in factors.items() if f"transformer_layer_{n}/" in path)
        for n in (1, 0)
    )
    assert (top, below) == (pytest.approx(0.5), pytest.approx(0.25))
    keras.backend.clear_session()


def test_without_an_encoder_nothing_changes():
    optimizer = training.masque(model=examples.small(), steps=80_000)["optimizer"]
    schedule = optimizer.get_config()["learning_rate"]["config"]
    assert (schedule["warmup_target"], schedule["warmup_steps"]) == (2.5e-4, 2000)
    assert (optimizer.use_ema, optimizer.ema_momentum) == (True, 0.9995)
    assert not optimizer.learning_rate_multipliers
