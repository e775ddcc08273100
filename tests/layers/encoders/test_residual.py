import numpy as np
import pytest

from tests.layers import weights
from tests.layers.agreement import Compared, arrays
from tests.reference import basic
from tfmrc.layers import Residual
from tfmrc.testing import run_layer_test


def reference(v):
    return basic.residual(
        v["change"], v["x"], v["normalization/gamma"], v["normalization/beta"], weights.EPSILON
    )


def test_layer():
    run_layer_test(
        Residual,
        {"dropout": 0.3},
        arrays({"x": (2, 3, 4), "change": (2, 3, 4)}),
        axes={"x": "B N d", "change": "B N d"},
        output_axes="B N d",
        padded=("N",),
        expected_output_shape=(2, 3, 4),
        expected_num_trainable_weights=2,
    )


@pytest.mark.equation("masque-01")
def test_values_and_gradients():
    Compared(Residual(), arrays({"x": (2, 5), "change": (2, 5)})).check(reference)


def test_equal_numbers_give_no_nan():
    ones = np.ones((2, 8), "float32")
    np.testing.assert_allclose(Residual()(ones, ones), 0.0, atol=1e-6)
