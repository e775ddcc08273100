import keras
import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import basic
from tfmrc.layers import Highway
from tfmrc.testing import run_layer_test


def test_layer():
    run_layer_test(
        Highway,
        {"num_layers": 2, "dropout": 0.3},
        arrays({"x": (2, 3, 4)}),
        axes={"x": "B N d"},
        output_axes="B N d",
        padded=("N",),
        expected_output_shape=(2, 3, 4),
        expected_num_trainable_weights=8,
    )


def test_values_and_gradients():
    layer = Highway(num_layers=2)
    x = Variable(arrays({"x": (2, 3, 4)})["x"])
    layer(x)
    weights.randomise(layer)
    close(layer(x), basic.highway(ops.convert_to_numpy(x), weights.highway(weights.values(layer))))
    mix = np.random.default_rng(1).normal(size=(2, 3, 4)).astype("float32")
    same_gradients(
        lambda: ops.sum(layer(x) * mix),
        {"x": x, **weights.named(layer)},
        lambda v: float((basic.highway(v["x"], weights.highway(v)) * mix).sum()),
    )


def test_shut_gate_carries_and_open_gate_transforms():
    layer = Highway(num_layers=1)
    x = arrays({"x": (1, 4)})["x"]
    layer(x)
    gate = layer.gates[0]
    gate.bias.assign(np.full(4, -40.0))
    np.testing.assert_allclose(layer(x), x, atol=1e-6)
    gate.bias.assign(np.full(4, 40.0))
    np.testing.assert_allclose(layer(x), np.maximum(layer.transforms[0](x), 0.0), atol=1e-6)


def test_dropout_acts_in_training_alone():
    layer = Highway(dropout=0.5)
    x = np.ones((1, 200), "float32")
    np.testing.assert_array_equal(layer(x), layer(x, training=False))
    assert not np.allclose(layer(x, training=True), layer(x))


@pytest.mark.parametrize("initializer", [0.02, keras.initializers.RandomNormal(stddev=0.3)])
def test_initial_weights(initializer):
    layer = Highway(num_layers=1, initializer=initializer)
    layer.build((None, 100))
    assert np.std(layer.transforms[0].kernel) == pytest.approx(
        getattr(initializer, "stddev", initializer), rel=0.05
    )
    np.testing.assert_array_equal(layer.gates[0].bias, 0.0)


def test_layers_within_may_have_a_policy_of_their_own():
    policies = keras.dtype_policies.DTypePolicyMap(default_policy="float32")
    policies["decoder_highway/.*"] = "bfloat16"
    x = np.ones((1, 2, 4), "float32")
    layer = Highway(name="decoder_highway", dtype=policies)
    found = layer(x)
    assert {transform.compute_dtype for transform in layer.transforms} == {"bfloat16"}
    assert keras.backend.standardize_dtype(found.dtype) == "float32"
    plain = Highway()
    plain.build(x.shape)
    plain.set_weights(layer.get_weights())
    np.testing.assert_allclose(found, plain(x), atol=0.01)
