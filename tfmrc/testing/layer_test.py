"""A test that every layer should pass."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from tfmrc.testing import checks, padding
from tfmrc.testing.padding import Nest

TOLERANCES = {"mixed_bfloat16": 0.06, "mixed_float16": 0.01}


def run_layer_test(
    layer_class: type[keras.Layer],
    init_kwargs: dict[str, Any],
    inputs: dict[str, Any],
    *,
    call_kwargs: dict[str, Any] | None = None,
    axes: dict[str, Any] | None = None,
    output_axes: Nest = None,
    padded: Sequence[str] = (),
    expected_output_shape: Sequence[int] | Sequence[Sequence[int]] | None = None,
    expected_num_trainable_weights: int | None = None,
    expected_num_non_trainable_weights: int | None = None,
    without_gradient: tuple[str, ...] = (),
    precisions: Sequence[str] = ("mixed_bfloat16", "mixed_float16"),
    tolerance: float = 2e-5,
) -> keras.Layer:
    """Checks configuration, shapes, numbers, saving, precision and padding of a layer.

    - `get_config` has every argument, can be converted to JSON and back, and rebuilds a layer with
      the same numbers.
    - A symbolic call has the shapes and dtypes of the eager one; a compiled model has its numbers.
    - One step of `fit` changes the weights; every trainable weight has a gradient.
    - The numbers are the same after saving and loading.
    - In each precision policy the weights stay float32, the outputs are close to those of float32
      and a step of `fit` is finite.
    - If a mask (a boolean input) is False in a whole example, outputs and gradients are finite.
    - With `axes`: an example gives the same numbers alone, in the batch, and with any content of
      padding after it.

    Args:
        layer_class: class. The layer's class.
        init_kwargs: dict. Arguments of its constructor.
        inputs: dict. NumPy arrays, or lists of them, by argument of the call; booleans are masks.
        call_kwargs: dict or None. Arguments of the call that are not tensors. Default: None.
        axes: dict or None. Names of the inputs' axes, such as `{"x": "B N d", "mask": "B N"}`; B is
            the batch. Default: None.
        output_axes: Names of the outputs' axes, in their structure. Default: None.
        padded: list of str. The axes that may be padded, such as `("N",)`. Default: ().
        expected_output_shape: Shape of the output, or shapes in its structure. Default: None.
        expected_num_trainable_weights: int or None. Number of trained weights. Default: None.
        expected_num_non_trainable_weights: int or None. Number of other variables, seeds included.
            Default: None.
        without_gradient: tuple of str. Suffixes of the paths of weights whose gradient may be zero,
            such as a key's bias. Default: ().
        precisions: list of str. Precision policies to test besides float32.
            Default: ("mixed_bfloat16", "mixed_float16").
        tolerance: float. Largest difference allowed in float32, relative to the output's maximum.
            Default: 2e-05.

    Returns:
        The layer in float32, for further checks.

    Raises:
        AssertionError: If a check fails; the message names it.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import Highway
        >>> from tfmrc.testing import run_layer_test
        >>> layer = run_layer_test(
        ...     Highway, {"num_layers": 1}, {"x": np.ones((2, 3, 4), "float32")},
        ...     axes={"x": "B N d"}, output_axes="B N d", padded=("N",), precisions=(),
        ...     expected_num_trainable_weights=4,
        ... )
        >>> layer.num_layers
        1
    """
    call_kwargs = call_kwargs or {}

    def call(layer, values):
        return layer(**values, **call_kwargs)

    def wrapped(layer):
        symbols = padding.symbolic(inputs, axes, ("B", *padded))
        return keras.Model(symbols, call(layer, symbols))

    layer = layer_class(**{"dtype": "float32", **init_kwargs})
    eager_outputs = call(layer, inputs)
    expected = checks.numbers(eager_outputs)
    checks.finite("The output", expected)
    _sizes(
        layer,
        eager_outputs,
        expected_output_shape,
        expected_num_trainable_weights,
        expected_num_non_trainable_weights,
    )

    # Configuration.
    checks.config(layer, init_kwargs, lambda twin: call(twin, inputs), expected, tolerance)

    # Symbolic call, graph, saving.
    model = wrapped(layer)
    _symbolic(model.output, eager_outputs)
    checks.saving(model, inputs, expected, tolerance)
    checks.graph(model, inputs, expected, tolerance)

    # Gradients, and fully masked examples.
    checks.every_weight(checks.weight_gradients(model, inputs), without_gradient)
    emptied = keras.tree.map_structure(_first_masked, inputs)
    checks.finite("With row 0 fully masked", checks.numbers(model(emptied)))
    checks.finite("Gradient with row 0 fully masked", checks.weight_gradients(model, emptied))

    # Alone, and padded.
    if axes is not None:
        paddings = [dict.fromkeys(padded, 2)] if padded else []
        checks.alone_and_padded(model, inputs, axes, output_axes, paddings, expected, tolerance)

    # Training, in every precision. Tracing takes longest, so the graph is trained in float32 only.
    targets = [np.zeros(tuple(value.shape), "float32") for value in checks.floats(eager_outputs)]
    training: dict[str, Any] = {"optimizer": "sgd", "loss": checks.bounded_square}
    weights = [np.array(w) for w in layer.get_weights()]
    if layer.trainable_variables:
        checks.fit(_trainable(model), inputs, targets, **training, run_eagerly=False)
        layer.set_weights(weights)
    for policy in precisions:
        other = layer_class(**{**init_kwargs, "dtype": policy})
        call(other, inputs)
        other.set_weights(weights)
        allowed = TOLERANCES.get(policy, 0.06)
        checks.precision(other, call(other, inputs), expected, policy, allowed)
        if other.trainable_variables:
            checks.fit(_trainable(wrapped(other)), inputs, targets, **training, run_eagerly=True)
    return layer


def _sizes(layer, outputs, shape, num_trainable, num_frozen):
    if shape is not None:
        got = [tuple(value.shape) for value in keras.tree.flatten(outputs)]
        right = [shape] if isinstance(shape[0], int) else [tuple(s) for s in shape]
        if got != right:
            checks.fail(f"The output's shape is {got}, expected {right}")
    for what, count, expected in (
        ("trained", len(layer.trainable_weights), num_trainable),
        ("not trained", len(layer.non_trainable_variables), num_frozen),
    ):
        if expected is not None and count != expected:
            checks.fail(f"{count} weights are {what}, expected {expected}: {layer.weights}")


def _symbolic(symbolic, eager):
    for left, right in zip(keras.tree.flatten(symbolic), keras.tree.flatten(eager), strict=True):
        pairs = zip(left.shape, right.shape, strict=False)
        if len(left.shape) != len(right.shape) or any(a not in (None, b) for a, b in pairs):
            checks.fail(f"A symbolic call gives shape {left.shape}, an eager one {right.shape}")
        dtypes = [keras.backend.standardize_dtype(value.dtype) for value in (left, right)]
        if dtypes[0] != dtypes[1]:
            checks.fail(f"A symbolic call gives {dtypes[0]}, an eager one {dtypes[1]}")


def _first_masked(array):
    array = np.array(array)
    if array.dtype == bool:
        array[0] = False
    return array


def _trainable(model):
    """Returns the same model with only the differentiable outputs."""
    return keras.Model(model.input, checks.floats(model.output))
