"""`tfmrc train` on the JAX backend, and `tfmrc evaluate` of its run in TensorFlow."""

import json

import pytest

from tests import fresh_python

SMALL = [
    "split.validation_limit=8", "evaluation.limit=8", "evaluation.targets={}", "training.steps=6",
    "training.eval_every_steps=6", "training.checkpoint_every_steps=4", "training.batch_size=4",
]  # fmt: skip


@pytest.mark.slow
def test_a_recipe_with_an_encoder_trains_on_jax_and_is_read_in_tensorflow(tmp_path):
    command = ("-m", "tfmrc.cli", "train", "squad_demo", "--run", tmp_path / "run", "--set", *SMALL)
    fresh_python.run(*command, KERAS_BACKEND="jax")
    facts = json.loads((tmp_path / "run" / "training.json").read_text(encoding="utf-8"))
    assert facts["steps"] == 6 and "jax" in facts["machine"]["versions"]
    fresh_python.run("-m", "tfmrc.cli", "evaluate", tmp_path / "run", KERAS_BACKEND="tensorflow")
    found = list((tmp_path / "run" / "evaluation").rglob("predictions*.jsonl"))
    assert len(found) == 1 and len(found[0].read_text(encoding="utf-8").splitlines()) == 8
