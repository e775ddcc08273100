"""Models with a pretrained encoder: AdamW with rates of its own, for every paper."""

import functools
import re

import pytest

from tests.models import duals, encoded, questions
from tfmrc import encoders, models, training
from tfmrc.training.base import fine_tuning_optimizer


@functools.cache
def encoder():
    return encoders.from_vocabulary(["owl", "##s", "fly"], num_layers=2, length=20)


MODELS = {
    "masque": lambda: encoded.make(num_layers=2)[0],
    "san": lambda: models.SAN(
        vocabulary_size=9, num_exact_match=0, encoder=encoder(), encoder_use="answer"
    ),
    "daanet": lambda: duals.small(encoder=encoder(), tasks=("ask",)),
    "maxout_pointer_qg": lambda: questions.small(encoder=encoder(), coverage=True),
    "extractive_reader": lambda: models.ExtractiveReader(encoder=encoder()),
}
CLIP_NORMS = {"daanet": 5.0}


@pytest.fixture(scope="module")
def made():
    return {name: make() for name, make in MODELS.items()}


def rate(optimizer):
    config = optimizer.get_config()["learning_rate"]["config"]
    return config["warmup_target"], config["warmup_steps"], config["decay_steps"]


@pytest.mark.parametrize("name", MODELS)
def test_the_defaults_of_every_paper(made, name):
    model = made[name]
    optimizer = getattr(training, name)(model=model, steps=100)["optimizer"]
    assert isinstance(optimizer, training.AdamW)
    assert rate(optimizer) == (0.001, 10, 90)
    assert (optimizer.weight_decay, optimizer.clip_norm) == (0.01, CLIP_NORMS.get(name, 1.0))
    assert not optimizer.use_ema
    # Layers of a paper such as `encoder_1` do not belong to the encoder.
    factors = optimizer.learning_rate_multipliers
    for variable in model.trainable_variables:
        factor = next((f for path, f in factors.items() if re.search(path, variable.path)), 1.0)
        in_encoder = re.search("(^|/)encoder/", variable.path) is not None
        assert factor == pytest.approx(0.1 if in_encoder else 1.0), variable.path
    assert any(factor < 1 for factor in factors.values())


def test_the_optimizer():
    optimizer = fine_tuning_optimizer(
        encoder(), steps=40, learning_rate=0.002, encoder_learning_rate=0.0005, layer_decay=0.5,
        warmup_share=0.25, weight_decay=None,
    )  # fmt: skip
    assert rate(optimizer) == (0.002, 10, 30) and optimizer.weight_decay is None
    factors = {path.rsplit("encoder/", 1)[-1]: factor
               for path, factor in optimizer.learning_rate_multipliers.items()}  # fmt: skip
    assert factors == pytest.approx(
        {"transformer_layer_1/": 0.25, "transformer_layer_0/": 0.125, "mix_": 0.25, "": 0.0625}
    )
    with pytest.raises(ValueError, match="`decay_steps` must be > 0"):
        fine_tuning_optimizer(encoder(), steps=40, warmup_share=1.0)
