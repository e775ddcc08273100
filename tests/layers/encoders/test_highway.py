import keras
import numpy as np
import pytest

from tests.layers import weights
from tests.layers.agreement import Compared, arrays
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
    compared = Compared(Highway(num_layers=2), arrays({"x": (2, 3, 4)}))
    compared.check(lambda v: basic.highway(v["x"], weights.highway(v)))


@pytest.mark.parametrize("initializer", [0.02, keras.initializers.RandomNormal(stddev=0.3)])
def test_initial_weights(initializer):
    layer = Highway(num_layers=1, initializer=initializer)
    layer.build((None, 100))
    assert np.std(layer.transforms[0].kernel) == pytest.approx(
        getattr(initializer, "stddev", initializer), rel=0.05
    )
    np.testing.assert_array_equal(layer.gates[0].bias, 0.0)
