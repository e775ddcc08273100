"""The registry of training functions and what it assembles for every paper."""

import keras
import pytest

from tests.models import duals
from tests.models.spans import SMALL
from tests.training import toy
from tfmrc import losses, models, training
from tfmrc.training.base import training_function

ALL = {
    models.Masque: training.masque,
    models.SAN: training.san,
    models.MaxoutPointerQG: training.maxout_pointer_qg,
    models.DAANet: training.daanet,
}


@pytest.mark.parametrize("model_class", ALL, ids=lambda model_class: model_class.__name__)
def test_every_model_and_its_subclass_find_their_training(model_class):
    subclass = type("Mine", (model_class,), {})
    assert training_function(model_class) is training_function(subclass) is ALL[model_class]
    assert set(ALL[model_class](steps=1000)) == {"optimizer", "loss", "loss_weights"}


def test_a_subclass_can_have_a_training_of_its_own():
    class Mine(models.SAN):
        pass

    class MineToo(Mine):
        pass

    @training.register_training(Mine)
    def mine(*, model=None, steps, steps_per_epoch=None, learning_rate=0.5):
        return {"optimizer": keras.optimizers.SGD(learning_rate), "loss": None, "steps": steps}

    assert training_function(MineToo) is mine
    assert training_function(models.SAN) is training.san


def test_the_arguments_of_a_model_are_those_of_its_function():
    model = models.SAN(**SMALL, seed=1)
    arguments = training.compile_arguments(
        model, steps=60, steps_per_epoch=3, learning_rate=0.1, epochs_per_halving=2, ema=0.9
    )
    optimizer = arguments["optimizer"]
    assert isinstance(optimizer, keras.optimizers.Adamax)
    assert (optimizer.use_ema, optimizer.ema_momentum) == (True, 0.9)
    assert not training.san(steps=60)["optimizer"].use_ema
    rates = []
    for step in (0, 5, 6, 11, 12):
        optimizer.iterations.assign(step)
        rates.append(float(optimizer.learning_rate))
    assert rates == pytest.approx([0.1, 0.1, 0.05, 0.05, 0.025])
    assert isinstance(arguments["loss"]["begin"], losses.SpanPositionNLL)
    assert arguments["loss_weights"] == {"begin": 1.0, "end": 1.0}


@pytest.mark.parametrize("make", ALL.values(), ids=lambda make: make.__name__)
def test_a_rate_that_callbacks_can_change_and_gradients_of_several_batches(make):
    options = {"learning_rate": 0.25, "schedule": False, "gradient_accumulation_steps": 4}
    optimizer = make(steps=10, **options)["optimizer"]
    assert float(optimizer.learning_rate) == 0.25
    optimizer.learning_rate = 0.125
    assert float(optimizer.learning_rate) == 0.125
    assert optimizer.gradient_accumulation_steps == 4
    assert not optimizer.use_ema


def test_errors():
    with pytest.raises(TypeError, match="did you mean `epochs_per_halving`"):
        training.compile_arguments(models.SAN(**SMALL), steps=10, epoch_per_halving=1)
    with pytest.raises(ValueError, match="register_training"):
        training.compile_arguments(toy.model(), steps=10)


def test_float16_scales_the_loss_and_lacking_parts_are_dropped():
    arguments = training.compile_arguments(
        duals.small(tasks=("ask",), dtype="mixed_float16"), steps=10, coverage_weight=0.25
    )
    assert isinstance(arguments["optimizer"], training.LossScale)
    assert arguments["loss_weights"] == {"ask": 1.0, "ask_coverage": 0.25}


@pytest.mark.parametrize("policy", ["mixed_float16", "float16", "bfloat16"])
def test_a_layer_in_half_precision_within_a_layer(policy):
    """The loss is scaled in float16, and weights are not trained in half precision."""
    policies = keras.dtype_policies.DTypePolicyMap("float32")
    policies["answer_module/attention"] = policy
    model = models.SAN(**SMALL, dtype=policies)
    if policy != "mixed_float16":
        with pytest.raises(ValueError, match=f"cannot be trained.*Use dtype='mixed_{policy}'"):
            training.compile_arguments(model, steps=10)
        model.trainable = False
    optimizer = training.compile_arguments(model, steps=10)["optimizer"]
    assert isinstance(optimizer, training.LossScale) == (policy != "bfloat16")


def test_only_outputs_selects_labels_and_weights():
    full = toy.model()
    model = keras.Model(full.inputs, {"ranker": full.output["ranker"]})
    x, y, weight = next(toy.batches(1))
    kept_x, kept_y, kept_weight = training.only_outputs(model)(x, y, weight)
    assert kept_x is x and list(kept_y) == list(kept_weight) == ["ranker"]
    assert kept_y["ranker"] is y["ranker"] and kept_weight["ranker"] is weight["ranker"]
