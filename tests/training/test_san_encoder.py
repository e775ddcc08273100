"""The training of SAN with a pretrained encoder: rates, decay and clipping of its own."""

import keras
import pytest

from tfmrc import encoders, models, training


def model(**options):
    encoder = encoders.from_vocabulary(["owl", "##s", "fly"], num_layers=2, **options)
    return models.SAN(vocabulary_size=9, num_exact_match=0, encoder=encoder, encoder_use="answer")


def test_an_encoder_is_trained_by_adamw_with_a_rate_of_its_own():
    arguments = training.san(model=model(), steps=100)
    optimizer = arguments["optimizer"]
    assert isinstance(optimizer, training.AdamW)
    schedule = optimizer.get_config()["learning_rate"]["config"]
    assert schedule["warmup_target"] == 0.001
    assert (schedule["warmup_steps"], schedule["decay_steps"]) == (10, 90)
    assert (optimizer.weight_decay, optimizer.clip_norm, optimizer.use_ema) == (0.01, 1, False)
    factors = optimizer.get_config()["learning_rate_multipliers"]
    assert list(factors.values()) == pytest.approx([0.1] * len(factors))
    assert sorted(arguments["loss"]) == ["begin", "end"]


def test_rates_fall_from_layer_to_layer():
    arguments = training.san(
        model=model(), steps=100, learning_rate=0.002, encoder_learning_rate=0.001, layer_decay=0.5
    )
    factors = arguments["optimizer"].get_config()["learning_rate_multipliers"]
    top, below = (
        next(factor for path, factor in factors.items() if f"transformer_layer_{n}/" in path)
        for n in (1, 0)
    )
    assert (top, below) == (pytest.approx(0.5), pytest.approx(0.25))


def test_without_an_encoder_nothing_changes():
    plain = models.SAN(vocabulary_size=9, word_dim=4, units=2, align_dim=2, num_exact_match=0)
    optimizer = training.san(model=plain, steps=100)["optimizer"]
    assert isinstance(optimizer, keras.optimizers.Adamax)
    assert float(optimizer.learning_rate) == pytest.approx(0.002) and not optimizer.use_ema
    averaged = training.san(model=plain, steps=100, ema=0.9)["optimizer"]
    assert (averaged.use_ema, averaged.ema_momentum) == (True, 0.9)
