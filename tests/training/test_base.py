"""The registry of training functions and what it assembles for every paper."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.models import duals
from tests.models.test_san import SMALL
from tests.training import masque_batches, toy
from tfmrc import encoders, losses, models, training
from tfmrc.training.base import epoch_length, fine_tuning_optimizer, training_function

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
    arguments = (
        ALL[model_class](steps=1000, steps_per_epoch=100, warmup_steps=1)
        if (model_class in (models.Masque, models.DAANet))
        else ALL[model_class](steps=1000, steps_per_epoch=100)
    )
    assert set(arguments) == {"optimizer", "loss", "loss_weights"}
    with pytest.raises(TypeError):
        ALL[model_class](1000)


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
        model, steps=60, steps_per_epoch=3, learning_rate=0.1, epochs_per_halving=2
    )
    optimizer = arguments["optimizer"]
    assert isinstance(optimizer, keras.optimizers.Adamax)
    rates = []
    for step in (0, 5, 6, 11, 12):
        optimizer.iterations.assign(step)
        rates.append(float(optimizer.learning_rate))
    assert rates == pytest.approx([0.1, 0.1, 0.05, 0.05, 0.025])
    assert isinstance(arguments["loss"]["begin"], losses.SpanPositionNLL)
    assert arguments["loss_weights"] == {"begin": 1.0, "end": 1.0}


def test_an_unknown_option_names_the_nearest_one():
    with pytest.raises(TypeError, match="did you mean `warmup_steps`"):
        training.compile_arguments(masque_batches.model(), steps=10, warm_up_steps=1)


def test_a_model_without_training_is_refused():
    with pytest.raises(ValueError, match="register_training"):
        training.compile_arguments(toy.model(), steps=10)


@pytest.mark.parametrize(
    "function",
    [
        lambda *, model=None, steps: {},
        lambda model=None, *, steps, steps_per_epoch=None: {},
        lambda steps, **options: {},
    ],
)
def test_a_function_that_cannot_be_called_like_the_others_is_refused(function):
    with pytest.raises(TypeError, match="keyword-only"):
        training.register_training(type("Mine", (models.SAN,), {}))(function)


def test_float16_scales_the_loss_and_lacking_parts_are_dropped():
    arguments = training.compile_arguments(
        duals.small(tasks=("ask",), dtype="mixed_float16"), steps=10, coverage_weight=0.25
    )
    assert isinstance(arguments["optimizer"], training.LossScale)
    assert arguments["loss_weights"] == {"ask": 1.0, "ask_coverage": 0.25}


def test_a_layer_in_float16_within_a_layer_scales_the_loss():
    for policy, error in (("mixed_float16", None), ("float16", "not trained")):
        policies = keras.dtype_policies.DTypePolicyMap("float32")
        policies["answer_module/attention"] = policy
        model = models.SAN(**SMALL, dtype=policies)
        if error is None:
            optimizer = training.compile_arguments(model, steps=10)["optimizer"]
            assert isinstance(optimizer, training.LossScale)
        else:
            with pytest.raises(ValueError, match=error):
                training.compile_arguments(model, steps=10)


def test_numbers_of_steps_must_be_positive():
    with pytest.raises(ValueError, match="Received: steps=0"):
        training.san(steps=0)
    with pytest.raises(ValueError, match="Received: steps_per_epoch=0"):
        training.maxout_pointer_qg(steps=9, steps_per_epoch=0)
    assert epoch_length(5, None, 20) == 1


class OneOutput(models.Model):
    """One output, of two that a dataset has labels for."""

    def __init__(self, *, name="one_output"):
        inputs = keras.Input((5,), name="scores")
        super().__init__(inputs=inputs, outputs={"decoder": keras.ops.relu(inputs)}, name=name)


def test_labels_of_outputs_that_the_model_lacks_are_named_with_the_remedy():
    model, zeros = OneOutput(), np.zeros((2, 5), "float32")
    model.compile(loss={"decoder": "mse"})
    labels = {"decoder": zeros, "coverage": zeros}
    message = r"by `dataset.map\(tfmrc.training.only_outputs\(model\)\)`; .*decoder, coverage; out"
    for step in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match=message):
            step(zeros, labels, verbose=0)
    model.compile(loss={"decoder": "mse"})
    pairs = tf.data.Dataset.from_tensors((zeros, {"decoder": zeros}))
    with warnings.catch_warnings():
        # Keras would warn that it does not shuffle a dataset.
        warnings.filterwarnings("error", message=".*shuffle")
        history = model.fit(pairs, verbose=0)
        model.fit(pairs, None, None, 1, 0, None, 0.0, None, False)
    assert history.history["loss"] == [0.0]


def test_only_outputs_selects_labels_and_weights():
    full = toy.model()
    model = keras.Model(full.inputs, {"ranker": full.output["ranker"]})
    x, y, weight = next(toy.batches(1))
    kept_x, kept_y, kept_weight = training.only_outputs(model)(x, y, weight)
    assert kept_x is x and list(kept_y) == list(kept_weight) == ["ranker"]
    assert kept_y["ranker"] is y["ranker"] and kept_weight["ranker"] is weight["ranker"]


def test_the_optimizer_that_fine_tunes_an_encoder():
    encoder = encoders.from_vocabulary(["owl", "##s", "fly"], num_layers=2)
    optimizer = fine_tuning_optimizer(
        encoder,
        steps=40,
        learning_rate=0.002,
        encoder_learning_rate=0.0005,
        layer_decay=0.5,
        warmup_share=0.25,
        weight_decay=None,
        clip_norm=2.0,
        ema=0.9,
    )
    rate = optimizer.get_config()["learning_rate"]["config"]
    assert (rate["warmup_target"], rate["warmup_steps"], rate["decay_steps"]) == (0.002, 10, 30)
    assert (optimizer.weight_decay, optimizer.clip_norm) == (None, 2.0)
    assert (optimizer.use_ema, optimizer.ema_momentum) == (True, 0.9)
    factors = {path.rsplit("encoder/", 1)[-1]: factor
               for path, factor in optimizer.learning_rate_multipliers.items()}  # fmt: skip
    assert factors == pytest.approx(
        {"transformer_layer_1/": 0.25, "transformer_layer_0/": 0.125, "mix_": 0.25, "": 0.0625}
    )


@pytest.mark.parametrize("option", [{"learning_rate": 0.0}, {"warmup_share": 1.0}])
def test_the_rates_of_fine_tuning_are_checked(option):
    encoder = encoders.from_vocabulary(["owl"], num_layers=1)
    with pytest.raises(ValueError, match=next(iter(option))):
        fine_tuning_optimizer(encoder, steps=10, **option)
