import keras
import numpy as np
import pytest
from keras import ops

from tests.layers.agreement import Compared, arrays
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
    def reference(v):
        layers = {name.replace("/", "_"): a for name, a in v.items() if name != "x"}
        return transformer.feed_forward(v["x"], layers)

    x = {"x": 3 * arrays({"x": (3, 4)})["x"]}
    Compared(FeedForward(5), x, scale=1.0).check(reference, tolerance=2e-6)


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
