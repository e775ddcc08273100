"""The private names of Keras that the library uses mean what it takes them for."""

import keras
import numpy as np
import pytest

from tfmrc.utils import keras_private

X, Y = np.ones((4, 2), "float32"), np.ones((4, 1), "float32")


@pytest.fixture
def model():
    inputs = keras.Input((2,), name="x")
    hidden = keras.layers.Dense(3, name="hidden")(inputs)
    model = keras.Model(inputs, {"y": keras.layers.Dense(1, name="y")(hidden)})
    optimizer = keras.optimizers.AdamW(0.1, weight_decay=0.1, use_ema=True)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    model.compile(optimizer, loss={"y": "mse"}, metrics={"y": "mae"})
    return model


def test_symbolic_build_creates_what_the_first_step_would(model):
    assert not model.optimizer.built
    keras_private.symbolic_build(model, (X, {"y": Y}))
    assert model.optimizer.built and int(model.optimizer.iterations) == 0
    known = {id(variable) for variable in model.optimizer.variables}
    model.train_on_batch(X, {"y": Y})
    assert {id(variable) for variable in model.optimizer.variables} == known


def test_a_model_built_without_drawing_has_zeros():
    def build():
        inputs = keras.Input((2,))
        hidden = keras.layers.Dense(3, name="hidden")(inputs)
        return keras.Model(inputs, keras.layers.Dropout(0.5)(hidden))

    built = keras_private.built_without_drawing(build)
    assert [v.path for v in built.weights] == [v.path for v in build().weights]
    assert not any(weight.numpy().any() for weight in built.weights)
    [seed] = [v for v in built.variables if v.path.startswith("seed_generator")]
    assert seed.numpy().any()


def test_what_is_frozen_when_it_is_built_can_be_trained_later():
    def build():
        inputs = keras.Input((2,))
        return keras.Model(inputs, keras.layers.Dense(3, trainable=False)(inputs))

    built = keras_private.built_without_drawing(build)
    assert not built.trainable_weights
    built.layers[1].trainable = True
    built.compile("sgd", "mse")
    built.train_on_batch(np.ones((4, 2)), np.ones((4, 3)))
    assert built.weights[0].numpy().any()


def test_build_loss_creates_what_the_first_evaluation_would(model):
    assert keras_private.build_loss(model, (X, {"y": Y}))
    known = {id(variable) for variable in model.metrics_variables}
    model.evaluate(X, {"y": Y}, verbose=0)
    assert known <= {id(variable) for variable in model.metrics_variables}
    assert model._compile_loss.built and not model.optimizer.built
    assert not keras_private.build_loss(model, (X,))


@pytest.mark.parametrize(
    "loss, names", [({"y": "mse", "z": None}, ["y"]), ("mse", None), (None, None)]
)
def test_the_outputs_with_a_loss_are_those_that_compile_names(loss, names):
    x = keras.Input((2,), name="x")
    model = keras.Model(x, {name: keras.layers.Dense(1, name=name)(x) for name in "yz"})
    model.compile("sgd", loss)
    assert keras_private.outputs_with_loss(model) == names


def test_the_optimizers_variables_and_their_averages(model):
    keras_private.symbolic_build(model, (X, {"y": Y}))
    variables = keras_private.optimizer_variables(model.optimizer)
    averages = keras_private.ema_variables(model.optimizer)
    assert [v.path for v in variables] == [v.path for v in model.trainable_variables]
    steps = []
    for _ in range(2):
        model.train_on_batch(X, {"y": Y})
        steps.append([keras.ops.convert_to_numpy(v) for v in variables])
    for first, second, average in zip(*steps, averages, strict=True):  # it begins at the first step
        right = 0.99 * first + 0.01 * second
        np.testing.assert_allclose(keras.ops.convert_to_numpy(average), right, rtol=1e-5)


def test_weight_decay_leaves_out_what_was_excluded(model):
    keras_private.symbolic_build(model, (X, {"y": Y}))
    found = {v.path: keras_private.uses_weight_decay(model.optimizer, v) for v in model.weights}
    assert found == {
        "hidden/kernel": True, "hidden/bias": False, "y/kernel": True, "y/bias": False
    }  # fmt: skip


def test_slots_are_named_after_the_path_of_their_variable(model):
    """`Checkpoint` finds the optimizer's state of a weight by this name."""
    keras_private.symbolic_build(model, (X, {"y": Y}))
    names = [variable.name for variable in model.optimizer.variables]
    assert {"hidden_kernel_momentum", "hidden_kernel_velocity", "hidden_kernel_average"} <= set(
        names
    )


def test_an_update_is_every_second_batch():
    weight = keras.Variable([1.0])
    optimizer = keras.optimizers.SGD(0.5, gradient_accumulation_steps=2)
    optimizer.build([weight])
    seen = []
    for _ in range(4):
        before, seen_before = float(weight[0]), bool(keras_private.is_update(optimizer))
        optimizer.apply([keras.ops.array([1.0])], [weight])
        seen.append((seen_before, float(weight[0]) != before))
    assert seen == [(False, False), (True, True)] * 2
