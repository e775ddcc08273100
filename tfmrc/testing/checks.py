"""Checks shared by `run_layer_test` and `run_model_test`."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import ops

from tfmrc.ops.typing import Tensor
from tfmrc.testing import padding
from tfmrc.testing.gradients import gradients
from tfmrc.testing.padding import Nest
from tfmrc.utils import keras_private

# Outputs below this are log-probabilities of impossible events: compared, never differentiated.
IMPOSSIBLE = -1e8


def fail(message: str) -> None:
    raise AssertionError(message)


def arrays(outputs: Nest) -> Nest:
    """Returns outputs of any structure as NumPy arrays (half precision as float32)."""

    def one(value):
        if floats(value):
            value = ops.cast(value, "float32")
        return np.array(ops.convert_to_numpy(value))

    return keras.tree.map_structure(one, outputs)


def numbers(outputs: Nest) -> dict[str, np.ndarray]:
    """Returns outputs of any structure by path, as NumPy arrays (half precision as float32)."""
    return padding.paths(arrays(outputs))


def floats(outputs: Nest) -> list[Any]:
    """Returns the outputs of a floating-point type."""
    leaves = keras.tree.flatten(outputs)
    return [leaf for leaf in leaves if "float" in keras.backend.standardize_dtype(leaf.dtype)]


def compare(what: str, got: dict, expected: dict, tolerance: float) -> None:
    """Fails unless the outputs agree within `tolerance`, relative to each output's maximum."""
    if got.keys() != expected.keys():
        fail(f"{what}: outputs {sorted(got)} instead of {sorted(expected)}")
    for path, right in expected.items():
        left = got[path]
        if left.shape != right.shape:
            fail(f"{what}: output {path!r} has shape {left.shape} instead of {right.shape}")
        if right.dtype.kind != "f":
            if not np.array_equal(left, right):
                fail(f"{what}: output {path!r} differs")
            continue
        impossible = right < IMPOSSIBLE
        if not np.array_equal(left < IMPOSSIBLE, impossible):
            fail(f"{what}: output {path!r} has other impossible events")
        largest = np.max(np.abs(right[~impossible]), initial=1e-3)
        error = np.max(np.abs(left - right)[~impossible], initial=0.0)
        if not error <= tolerance * largest:
            row = np.argmax(np.abs(left - right) * ~impossible) // max(1, right[:1].size)
            fail(f"{what}: output {path!r} is off by {error:.3g} of {largest:.3g} in row {row}")


def finite(what: str, outputs: dict) -> None:
    for path, value in outputs.items():
        if value is not None and value.dtype.kind == "f" and not np.isfinite(value).all():
            row = np.argmin(np.isfinite(value)) // max(1, value[:1].size)
            fail(f"{what}: {path!r} is not finite in row {row}")


def scalar(outputs: Nest, seed: int = 0) -> Tensor:
    """Returns a weighted sum of all differentiable outputs; each part has a size of about 1."""
    random = np.random.default_rng(seed)
    total: Tensor = 0.0
    for value in floats(outputs):
        value = ops.cast(value, "float32")
        weights = random.normal(size=tuple(value.shape)).astype("float32")
        possible = ops.where(value > IMPOSSIBLE, value, 0.0)
        total = total + ops.sum(weights * possible)
    return total


def config(
    built: keras.Layer,
    arguments: dict[str, Any],
    call: Callable[[keras.Layer], Nest],
    expected: dict,
    tolerance: float,
) -> Any:
    """Checks that an object rebuilt from its configuration is the same; returns it."""
    kind = type(built)
    values = built.get_config()
    for name, value in arguments.items():
        if name not in values:
            fail(f"{kind.__name__}.get_config() does not have the argument {name!r}")
        if isinstance(value, str | int | float | bool) and name != "dtype":
            if values[name] != value:
                fail(f"{kind.__name__}.get_config()[{name!r}] is {values[name]!r}, not {value!r}")
    serialized = json.loads(json.dumps(keras.saving.serialize_keras_object(built)))
    again = keras.saving.deserialize_keras_object(serialized)
    if not isinstance(again, kind) or again.get_config() != values:
        fail(f"{kind.__name__} rebuilt from its configuration has another: {again.get_config()}")
    call(again)
    again.set_weights(built.get_weights())
    compare("From its config", numbers(call(again)), expected, tolerance)
    return again


def saving(model: keras.Model, inputs: Nest, expected: dict, tolerance: float) -> None:
    """Checks that a model gives the same numbers after saving and loading as .keras."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        loaded = keras.models.load_model(path)
    compare("After loading", numbers(loaded(inputs)), expected, tolerance)


def graph(model: keras.Model, inputs: Nest, eager: dict, tolerance: float) -> None:
    """Checks that the compiled model gives the same numbers as the eager one."""
    model.compile()
    compare("In the graph", padding.paths(model.predict_on_batch(inputs)), eager, tolerance)


def alone_and_padded(
    model: keras.Model,
    inputs: Nest,
    axes: Nest,
    output_axes: Nest,
    paddings: Sequence[Mapping[str, int]],
    expected: dict,
    tolerance: float,
) -> None:
    """Checks that an example has the same numbers alone, in the batch, and padded."""
    lengths = padding.sizes(inputs, axes)
    for index in range(lengths["B"]):
        alone = numbers(model(padding.one(inputs, axes, index)))
        right = {path: value[index : index + 1] for path, value in expected.items()}
        compare(f"Example {index} alone", alone, right, tolerance)
    for amounts in paddings:
        longer = arrays(model(padding.pad(inputs, axes, amounts)))
        got = padding.paths(padding.cut(longer, output_axes, lengths))
        compare(f"Padded by {dict(amounts)}", got, expected, tolerance)


def precision(
    part: keras.Layer, outputs: Nest, expected: dict, policy: str, tolerance: float
) -> None:
    """Checks outputs in a precision policy, and that the weights stay float32."""
    for variable in part.trainable_variables:
        if keras.backend.standardize_dtype(variable.dtype) != "float32":
            fail(f"With {policy} the weight {variable.path!r} is {variable.dtype}")
    finite(f"With {policy}", numbers(outputs))
    compare(f"With {policy}", numbers(outputs), expected, tolerance)


def weight_gradients(model: keras.Model, inputs: Nest, training: bool = False) -> dict:
    """Returns the gradient of `scalar` of the outputs by weight path; None if there is none."""
    variables = model.trainable_variables
    result = gradients(lambda: scalar(model(inputs, training=training)), variables)
    return {v.path: part for v, part in zip(variables, result, strict=True)}


def every_weight(result: dict, without: tuple[str, ...]) -> None:
    """Checks that every trainable weight has a finite gradient, nonzero except as expected."""
    finite("Gradient", result)
    for path, part in result.items():
        if not path.endswith(without or ("\0",)) and (part is None or not np.any(part)):
            fail(f"The weight {path!r} receives no gradient")


def bounded_square(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Computes squared differences, without log-probabilities of impossible events."""
    y_pred = ops.cast(y_pred, "float32")
    possible = ops.where(y_pred > IMPOSSIBLE, y_pred, 0.0)
    return ops.square(possible - ops.cast(y_true, "float32"))


def fit(
    model: keras.Model, x: Nest, y: Nest = None, weight: Nest = None, **compile_with: Any
) -> None:
    """Checks that a step of `fit` gives finite numbers and changes at least one weight.

    In float16, steps may be skipped until the loss scale is small enough, so more are run. A step
    without a graph takes the arrays as they are: a dataset would take longer than the step.
    """
    before = weights(model)
    model.compile(**compile_with)
    size = len(keras.tree.flatten(x)[0])
    scaled = isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
    for _ in range(8 if scaled else 1):
        if model.run_eagerly:
            logs = model.train_on_batch(x, y, sample_weight=weight, return_dict=True)
        else:
            # TensorFlow traces a step again whose first trace has created variables.
            keras_private.symbolic_build(model, (x, y, weight))
            logs = model.fit(x, y, sample_weight=weight, batch_size=size, verbose=0).history
        losses = {name: np.array(values) for name, values in logs.items()}
        after = weights(model)
        finite("A step of fit", {**losses, **after})
        if not before or any(np.any(after[path] != before[path]) for path in before):
            return
    fail("A step of fit moves no weight")


def weights(model: keras.Model) -> dict[str, np.ndarray]:
    """Returns the trainable weights by path."""
    return {v.path: np.array(ops.convert_to_numpy(v)) for v in model.trainable_variables}
