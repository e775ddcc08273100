import keras
import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import transformer
from tfmrc.layers import FeedForward, Highway
from tfmrc.testing import run_layer_test


def test_layer():
    run_layer_test(
        FeedForward,
        {"intermediate_dim": 5, "initializer": 0.5},
        arrays({"x": (2, 3, 4)}),
        axes={"x": "B N d"},
        output_axes="B N d",
        padded=("N",),
        expected_output_shape=(2, 3, 4),
        expected_num_trainable_weights=4,
    )


def test_values_and_gradients():
    layer = FeedForward(5)
    x = Variable(3 * arrays({"x": (3, 4)})["x"])
    layer(x)
    weights.randomise(layer, scale=1.0)

    def reference(v):
        return transformer.feed_forward(
            v["x"], {name.replace("/", "_"): a for name, a in v.items() if name != "x"}
        )

    variables = {"x": x, **weights.named(layer)}
    values = {name: ops.convert_to_numpy(v).astype(float) for name, v in variables.items()}
    close(layer(x), reference(values), 2e-6)
    mix = np.random.default_rng(1).normal(size=(3, 4)).astype("float32")
    same_gradients(
        lambda: ops.sum(layer(x) * mix),
        variables,
        lambda v: float((reference(v) * mix).sum()),
    )


@keras.saving.register_keras_serializable(package="tests")
def squared_relu(x):
    return ops.square(ops.relu(x))


@pytest.mark.parametrize("make", [FeedForward, Highway], ids=["FeedForward", "Highway"])
def test_a_function_as_activation_is_saved(make, tmp_path):
    layer = make(3, activation=squared_relu)
    model = keras.Sequential([keras.Input((4,)), layer])
    model.save(tmp_path / "model.keras")
    x = arrays({"x": (2, 4)})["x"]
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(x), model(x))
    assert loaded.layers[-1].activation is squared_relu
