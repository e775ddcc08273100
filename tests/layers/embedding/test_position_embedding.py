import numpy as np

from tests.layers import weights
from tests.layers.agreement import arrays, close
from tests.reference import basic
from tfmrc.layers import PositionEmbedding
from tfmrc.testing import run_layer_test


def test_layer():
    run_layer_test(
        PositionEmbedding,
        {"scale": 0.7},
        arrays({"x": (2, 3, 5, 4)}),
        axes={"x": "B K N d"},
        output_axes="B K N d",
        padded=("K", "N"),
        expected_output_shape=(2, 3, 5, 4),
        expected_num_trainable_weights=3,
    )


def test_values():
    layer, x = PositionEmbedding(), arrays({"x": (2, 5, 4)})["x"]
    layer(x)
    weights.randomise(layer)
    v = weights.values(layer)
    angles = np.array([[n, n / 100] for n in range(5)])  # 10000 ** (0 / 2), 10000 ** (1 / 2)
    wave = np.concatenate([np.sin(angles), np.cos(angles)], -1)
    normal = basic.layer_norm(x, v["normalization/gamma"], v["normalization/beta"], weights.EPSILON)
    close(layer(x), normal + v["position_scale"] * wave)


def test_one_place_is_that_place_of_the_whole():
    layer, x = PositionEmbedding(), arrays({"x": (2, 5, 4)})["x"]
    whole = np.array(layer(x))
    weights.randomise(layer)
    whole = np.array(layer(x))
    for n in range(5):
        close(layer(x[:, n], position=n), whole[:, n])
