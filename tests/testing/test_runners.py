"""The runners find what they are there to find."""

import keras
import numpy as np
import pytest
from keras import ops

from tests import fresh_python
from tfmrc.testing import gradients, run_layer_test, run_model_test
from tfmrc.testing.padding import cut, one, pad, paths, sizes

X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
MASK = np.array([[1, 1, 0], [1, 1, 1]], bool)


@keras.saving.register_keras_serializable(package="runner_tests")
class Pool(keras.layers.Layer):
    """A right layer, with one fault a switch."""

    def __init__(self, units=2, fault="", **kwargs):
        super().__init__(**kwargs)
        self.units, self.fault = units, fault

    def build(self, x_shape):
        self.kernel = self.add_weight((x_shape[-1], self.units), name="kernel")
        if self.fault == "dead weight":
            self.idle = self.add_weight((3,), name="idle")

    def call(self, x, mask):
        weights = ops.cast(mask, x.dtype)[..., None]
        total = ops.sum(x * weights, axis=1)
        count = ops.sum(weights, axis=1)
        if self.fault == "padding":
            total, count = ops.sum(x, axis=1), ops.sum(ops.ones_like(weights), axis=1)
        if self.fault != "empty row":
            count = ops.maximum(count, 1.0)
        mean = total / count
        if self.fault == "batch":
            mean = mean - ops.mean(mean, axis=0, keepdims=True)
        if self.fault == "half precision":
            mean = 1e-4 * ops.sqrt(ops.square(1e4 * mean) + 1e-3)
        return ops.matmul(mean, ops.cast(self.kernel, x.dtype))

    def compute_output_shape(self, x_shape, mask_shape=None):
        return (x_shape[0], self.units + (self.fault == "symbolic shape"))

    def get_config(self):
        config = {**super().get_config(), "units": self.units, "fault": self.fault}
        if self.fault == "lost argument":
            del config["units"]
        if self.fault == "wrong argument":
            config["units"] += 1
        return config


def check(fault="", **options):
    return run_layer_test(
        Pool,
        {"units": 2, "fault": fault},
        {"x": X, "mask": MASK},
        axes={"x": "B N d", "mask": "B N"},
        output_axes="B u",
        padded=("N",),
        **{"precisions": (), **options},
    )


def test_a_right_layer_passes():
    layer = check(
        expected_output_shape=(2, 2),
        expected_num_trainable_weights=1,
        expected_num_non_trainable_weights=0,
        precisions=("mixed_float16",),
    )
    assert layer.dtype_policy.name == "float32"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("lost argument", "does not have the argument 'units'"),
        ("wrong argument", r"get_config\(\)\['units'\] is 3, not 2"),
        ("symbolic shape", "A symbolic call gives shape"),
        ("dead weight", r"The weight '.*idle' receives no gradient"),
        ("empty row", "With row 0 fully masked: .* is not finite in row 0"),
        ("batch", "Example 0 alone"),
        ("padding", "Padded by"),
    ],
)
def test_each_fault_is_found(fault, message):
    with pytest.raises(AssertionError, match=message):
        check(fault)


def test_overflow_in_half_precision_is_found():
    with pytest.raises(AssertionError, match="With mixed_float16"):
        check("half precision", precisions=("mixed_float16",))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"expected_output_shape": (2, 3)}, "The output's shape"),
        ({"expected_num_trainable_weights": 2}, "1 weights are trained, expected 2"),
        ({"expected_num_non_trainable_weights": 1}, "0 weights are not trained, expected 1"),
    ],
)
def test_sizes_are_checked(option, message):
    with pytest.raises(AssertionError, match=message):
        check(**option)


@keras.saving.register_keras_serializable(package="runner_tests")
class Model(keras.Model):
    """One right model, with a fault by name."""

    def __init__(self, fault="", dtype=None, **kwargs):
        super().__init__(dtype=dtype, **kwargs)
        self.fault = fault
        self.pool = Pool(dtype=self.dtype_policy, name="pool")
        self.idle = keras.layers.Dense(1, dtype=self.dtype_policy)

    def build(self, shapes):
        self.pool.build(shapes["x"])
        self.idle.build(shapes["x"])
        self.idle.trainable = self.fault == "dead weight"

    def call(self, inputs):
        result = self.pool(inputs["x"], inputs["mask"])
        if self.fault == "batch":
            result = result - ops.mean(result, axis=0, keepdims=True)
        return {"pooled": result}

    def get_config(self):
        return {**super().get_config(), "fault": self.fault, "dtype": self.dtype_policy.name}


def check_model(fault=""):
    return run_model_test(
        Model,
        {"fault": fault},
        {"x": X, "mask": MASK},
        axes={"x": "B N d", "mask": "B N"},
        output_axes={"pooled": "B u"},
        padded=[{"N": 2}],
        precisions=(),
    )


def test_a_right_model_passes():
    assert check_model().fault == ""


@pytest.mark.parametrize(
    ("fault", "message"), [("dead weight", "receives no gradient"), ("batch", "Example 0 alone")]
)
def test_faults_of_a_model_are_found(fault, message):
    with pytest.raises(AssertionError, match=message):
        check_model(fault)


def test_gradients_of_what_depends_and_of_what_does_not():
    x, y = keras.Variable([1.0, 2.0]), keras.Variable([3.0])
    found = gradients(lambda: ops.sum(x**3), [x, y])
    np.testing.assert_allclose(found[0], [3.0, 12.0])
    assert found[1] is None or not found[1].any()


def test_gradients_of_rows_that_were_taken_are_dense():
    table = keras.Variable(np.ones((4, 2), "float32"))
    (found,) = gradients(lambda: ops.sum(ops.take(table, np.array([1, 1, 3]), axis=0)), [table])
    np.testing.assert_array_equal(found, [[0, 0], [2, 2], [0, 0], [1, 1]])


def test_padding_slicing_and_cutting():
    inputs = {"x": X, "masks": [MASK]}
    axes = {"x": "B N d", "masks": ["B N"]}
    longer = pad(inputs, axes, {"N": 2})
    assert longer["x"].shape == (2, 5, 4) and longer["masks"][0].shape == (2, 5)
    assert not longer["masks"][0][:, 3:].any()
    assert (longer["x"][:, 3:] != 0).all()  # noise, not zeros
    back = cut(longer, axes, {"N": 3})
    np.testing.assert_array_equal(back["x"], X)
    assert one(inputs, axes, 1)["masks"][0].tolist() == [[True, True, True]]
    assert sizes(inputs, axes) == {"B": 2, "N": 3, "d": 4}
    assert sorted(paths(inputs)) == ["masks/0", "x"]


def test_axes_must_fit_the_shape():
    with pytest.raises(ValueError, match="Received: axes='B N'"):
        pad(X, "B N", {"N": 1})


@pytest.mark.slow
def test_the_runner_on_jax():
    program = """
import keras
import numpy as np
from tfmrc.layers import Highway
from tfmrc.testing import run_layer_test
assert keras.backend.backend() == "jax"
x = np.random.default_rng(0).normal(size=(2, 3, 8)).astype("float32")
print(type(run_layer_test(Highway, {}, {"x": x}, precisions=())).__name__)
"""
    assert fresh_python.run("-c", program, KERAS_BACKEND="jax").endswith("Highway")
