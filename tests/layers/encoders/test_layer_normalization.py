"""Layer normalization against float64, in configuration and precision as Keras' own."""

import keras
import numpy as np
import pytest

from tests.layers.agreement import close, same_gradients
from tests.reference import basic
from tfmrc.layers import LayerNormalization

RNG = np.random.default_rng(0)
X, GAMMA, BETA = RNG.normal(2.0, 3.0, (2, 3, 5)), RNG.normal(size=5), RNG.normal(size=5)


def built(**arguments):
    layer = LayerNormalization(**arguments)
    layer.build((None, None, 5))
    layer.set_weights([GAMMA, BETA])
    return layer


def test_values_and_gradients():
    layer, x = built(), keras.Variable(X)
    close(layer(X), basic.layer_norm(X, GAMMA, BETA, 1e-5))
    close(built(epsilon=0.5)(X), basic.layer_norm(X, GAMMA, BETA, 0.5))
    mix = RNG.normal(size=X.shape)
    same_gradients(
        lambda: keras.ops.sum(layer(x) * mix.astype("float32")),
        {"x": x, "gamma": layer.gamma, "beta": layer.beta},
        lambda v: float((basic.layer_norm(v["x"], v["gamma"], v["beta"], 1e-5) * mix).sum()),
    )


def test_like_keras_own_in_configuration_and_precision():
    copy = keras.layers.deserialize(keras.layers.serialize(LayerNormalization(epsilon=0.5)))
    assert isinstance(copy, LayerNormalization) and copy.epsilon == 0.5
    theirs = keras.layers.LayerNormalization(epsilon=1e-5, dtype="mixed_float16")
    theirs.build((None, None, 5))
    theirs.set_weights([GAMMA, BETA])
    own = built(dtype="mixed_float16")(X)
    assert own.dtype == "float16"
    close(own, np.array(theirs(X), "float32"), 2e-3)


@pytest.mark.parametrize("other", [{"axis": 1}, {"center": False}, {"scale": False}])
def test_what_is_not_computed_is_refused(other):
    with pytest.raises(ValueError, match="Received: axis=.*, center=.*, scale="):
        LayerNormalization(**other)
