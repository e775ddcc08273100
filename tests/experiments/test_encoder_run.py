"""An experiment with a pretrained encoder: trained, evaluated and exported from its YAML file."""

import pytest

from tests.experiments.small import CONFIG, example, write_encoder
from tfmrc import data, encoders, experiments, models, training
from tfmrc.experiments.building.model import build_encoder, compile_arguments
from tfmrc.experiments.plan import Plan


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data, and an encoder without weights."""
    made = tmp_path_factory.mktemp("encoder_recipe")
    data.write_examples(made / "train.jsonl", [example(n) for n in range(24)])
    data.write_examples(made / "test.jsonl", [example(n) for n in range(100, 104)])
    write_encoder(made / "encoder")
    (made / "config.yaml").write_text(CONFIG, encoding="utf-8")
    return made


def test_an_encoder_has_the_precision_of_the_training(folder):
    settings = [f"encoder={{preset: {folder / 'encoder'}, random: true}}"]
    for more, policy in (
        ([], "float32"),
        (["training.dtype=mixed_bfloat16"], "mixed_bfloat16"),
        (["training.dtype=mixed_bfloat16", "encoder.dtype=float32"], "float32"),
    ):
        experiment = experiments.read_settings(folder / "config.yaml", *settings, *more)
        assert build_encoder(Plan(experiment, folder)).layer.dtype_policy.name == policy


def test_the_loss_is_scaled_where_the_encoder_alone_computes_in_float16(folder):
    settings = [f"encoder.preset={folder / 'encoder'}", "training.optimizer_of=DAANet"]
    experiment = experiments.read_settings(folder / "config.yaml", *settings)
    for dtype, scaled in (("mixed_float16", True), ("mixed_bfloat16", False), ("float32", False)):
        layer = encoders.from_vocabulary(["owl"], dtype=dtype).layer
        model = models.ExtractiveReader(encoder=layer)
        own = training.compile_arguments(model, steps=9, steps_per_epoch=3)
        layer.trainable_layers = "none"
        others = compile_arguments(Plan(experiment, folder), model, 9, 3)
        for arguments in (own, others):
            assert isinstance(arguments["optimizer"], training.LossScale) == scaled
