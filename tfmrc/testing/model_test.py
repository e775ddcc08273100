"""A test that every model should pass."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np

from tfmrc.testing import checks
from tfmrc.testing.padding import Nest

TOLERANCES = {"mixed_bfloat16": 0.1, "mixed_float16": 0.02}


def run_model_test(
    model_class: type[keras.Model],
    init_kwargs: dict[str, Any],
    inputs: dict[str, Any],
    *,
    compile_kwargs: Mapping[str, Any] | None = None,
    targets: Nest = None,
    sample_weight: Nest = None,
    axes: dict[str, str] | None = None,
    output_axes: Nest = None,
    padded: Sequence[Mapping[str, int]] = (),
    expected_output_shape: Mapping[str, tuple[int, ...]] | None = None,
    without_gradient: tuple[str, ...] = (),
    precisions: Sequence[str] = ("mixed_bfloat16", "mixed_float16"),
    tolerance: float = 5e-5,
) -> keras.Model:
    """Checks configuration, numbers, training, saving, precision and padding of a model.

    - `get_config` has every argument, can be converted to JSON and back, and rebuilds a model with
      the same numbers.
    - A compiled call gives the numbers of the eager one.
    - One step of `fit` on `targets` changes the weights and is finite, in every precision policy.
    - Every trainable weight has a gradient.
    - The numbers are the same after saving and loading.
    - In each precision policy the weights stay float32 and the outputs are close to those of
      float32.
    - With `axes`: an example gives the same numbers alone, in the batch, and with padding after it.

    Args:
        model_class: class. The model's class.
        init_kwargs: dict. Arguments of its constructor; dropout should be 0, so that numbers can be
            compared.
        inputs: dict. A batch of NumPy arrays.
        compile_kwargs: dict or None. Arguments of `compile`; None trains mean squares to zero.
            Default: None.
        targets: Argument `y` of `fit`. Default: None.
        sample_weight: Argument `sample_weight` of `fit`. Default: None.
        axes: dict or None. Names of the inputs' axes, such as
            `{"question_ids": "B J", "style_ids": "B"}`. Default: None.
        output_axes: Names of the outputs' axes, in their structure. Default: None.
        padded: list. Paddings to test, each a dict from an axis to its added length, such as
            `[{"J": 2}, {"L": 3}]`. Integers are padded with 0. Default: ().
        expected_output_shape: dict or None. Shapes of the outputs, in their structure.
            Default: None.
        without_gradient: tuple of str. Suffixes of the paths of weights whose gradient may be zero.
            Default: ().
        precisions: list of str. Precision policies to test besides float32.
            Default: ("mixed_bfloat16", "mixed_float16").
        tolerance: float. Largest difference allowed in float32, relative to the output's maximum.
            Default: 5e-05.

    Returns:
        The model in float32, not yet trained.

    Raises:
        AssertionError: If a check fails; the message names it.

    Example:
        >>> import keras, numpy as np
        >>> from tfmrc.testing import run_model_test
        >>> class Sum(keras.Model):
        ...     def __init__(self, units, dtype=None):
        ...         super().__init__(dtype=dtype)
        ...         self.units, self.dense = units, keras.layers.Dense(units, dtype=dtype)
        ...     def build(self, shapes):
        ...         self.dense.build(shapes["x"])
        ...     def call(self, inputs):
        ...         return {"sum": self.dense(inputs["x"])}
        ...     def get_config(self):
        ...         return {"units": self.units, "dtype": self.dtype_policy.name}
        >>> Sum = keras.saving.register_keras_serializable("doctest")(Sum)
        >>> model = run_model_test(
        ...     Sum, {"units": 3}, {"x": np.ones((2, 4), "float32")}, precisions=(),
        ...     axes={"x": "B d"}, output_axes={"sum": "B units"},
        ... )
        >>> model.units
        3
    """

    def make(policy):
        model = model_class(**{**init_kwargs, "dtype": policy})
        model(inputs)
        return model

    model = make("float32")
    expected = checks.numbers(model(inputs))
    checks.finite("The output", expected)
    if expected_output_shape is not None:
        got = {path: value.shape for path, value in expected.items()}
        right = {name: tuple(shape) for name, shape in expected_output_shape.items()}
        if got != right:
            checks.fail(f"The outputs' shapes are {got}, expected {right}")

    twin = checks.config(model, init_kwargs, lambda twin: twin(inputs), expected, tolerance)
    checks.saving(twin, inputs, expected, tolerance)
    checks.graph(twin, inputs, expected, tolerance)
    checks.every_weight(checks.weight_gradients(model, inputs), without_gradient)
    if axes is not None:
        checks.alone_and_padded(model, inputs, axes, output_axes, padded, expected, tolerance)

    if compile_kwargs is None:
        compile_kwargs = {"optimizer": "sgd", "loss": checks.bounded_square}
        targets = keras.tree.map_structure(
            lambda value: np.zeros(tuple(value.shape), "float32"), model(inputs)
        )
    for policy in ("float32", *precisions):
        other = twin
        if policy != "float32":
            other = make(policy)
            other.set_weights(model.get_weights())
            allowed = TOLERANCES.get(policy, 0.1)
            checks.precision(other, other(inputs), expected, policy, allowed)
        # Tracing takes longest, so the graph is trained in float32 only.
        compile_with = {"run_eagerly": policy != "float32", **_fresh(compile_kwargs)}
        checks.fit(other, inputs, targets, sample_weight, **compile_with)
    return model


def _fresh(compile_kwargs):
    """Returns a copy of the arguments, so that each model gets an optimizer of its own."""
    optimizer = compile_kwargs.get("optimizer", "sgd")
    if isinstance(optimizer, keras.optimizers.Optimizer):
        optimizer = type(optimizer).from_config(optimizer.get_config())
    return {**compile_kwargs, "optimizer": optimizer}
