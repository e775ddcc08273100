"""Layer normalization against float64, in configuration and precision as Keras' own."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.layers.agreement import close, same_gradients
from tests.reference import basic
from tfmrc.layers import LayerNormalization
from tfmrc.ops.normalization import layer_norm

RNG = np.random.default_rng(0)
X, GAMMA, BETA = RNG.normal(2.0, 3.0, (2, 3, 5)), RNG.normal(size=5), RNG.normal(size=5)


def built(**arguments):
    layer = LayerNormalization(**arguments)
    layer.build((None, None, 5))
    layer.set_weights([GAMMA, BETA])
    return layer


@pytest.mark.parametrize("training", [False, True])
def test_values_and_gradients(training):
    layer, x = built(), keras.Variable(X)
    close(layer(X, training=training), basic.layer_norm(X, GAMMA, BETA, 1e-5))
    close(built(epsilon=0.5)(X, training=training), basic.layer_norm(X, GAMMA, BETA, 0.5))
    mix = RNG.normal(size=X.shape)
    same_gradients(
        lambda: keras.ops.sum(layer(x, training=training) * mix.astype("float32")),
        {"x": x, "gamma": layer.gamma, "beta": layer.beta},
        lambda v: float((basic.layer_norm(v["x"], v["gamma"], v["beta"], 1e-5) * mix).sum()),
    )


@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 4, 5)])
def test_gradients_of_training_for_any_leading_axes(shape):
    """Also for rows whose values are all equal, where epsilon alone is below the root."""
    random = np.random.default_rng(1)
    x, mix = random.normal(size=shape), random.normal(size=shape).astype("float32")
    x.reshape(-1, 5)[-1] = 2.0
    inputs = [tf.constant(each, "float32") for each in (x, GAMMA, BETA)]
    found = []
    for training in (False, True):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            total = tf.reduce_sum(layer_norm(*inputs, 1e-2, training) * mix)
        found.append(tape.gradient(total, inputs))
    for plain, formula in zip(*found, strict=True):
        close(formula, np.array(plain))


def test_only_a_training_has_the_formula():
    """An answering graph must not hold the operation of a custom gradient: it ends fusions."""

    def operations(**arguments):
        function = tf.function(
            lambda x: layer_norm(x, GAMMA, BETA, 1e-5, **arguments),
            [tf.TensorSpec([None, 5])],
            autograph=False,
        )
        graph = function.get_concrete_function().graph
        return {operation.type for operation in graph.get_operations()}

    assert "IdentityN" in operations(training=True)
    assert "IdentityN" not in operations(training=False)
    assert "IdentityN" not in operations()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_of_training_in_half_precision(dtype):
    """Types are those of the inputs; between them everything is float32."""
    wide = [tf.constant(each, "float32") for each in (X, GAMMA, BETA)]
    found = []
    for inputs in (wide, [tf.cast(each, dtype) for each in wide]):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            result = layer_norm(*inputs, 1e-5, training=True)
            total = tf.reduce_sum(tf.cast(result, "float32") ** 3)
        found.append(tape.gradient(total, inputs))
    assert result.dtype == dtype
    for full, half in zip(*found, strict=True):
        assert half.dtype == dtype
        close(tf.cast(half, "float32"), np.array(full), 0.05)


def test_like_keras_own_in_configuration_and_precision():
    copy = keras.layers.deserialize(keras.layers.serialize(LayerNormalization(epsilon=0.5)))
    assert isinstance(copy, LayerNormalization) and copy.epsilon == 0.5
    theirs = keras.layers.LayerNormalization(epsilon=1e-5, dtype="mixed_float16")
    theirs.build((None, None, 5))
    theirs.set_weights([GAMMA, BETA])
    own = built(dtype="mixed_float16")(X)
    assert own.dtype == "float16"
    close(own, np.array(theirs(X), "float32"), 2e-3)
