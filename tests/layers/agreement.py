"""Comparing a layer with its float64 reference: values, and gradients by finite differences."""

from collections.abc import Callable

import keras
import numpy as np

from tests.reference import differences
from tests.reference.basic import Array
from tfmrc.testing import gradients


def arrays(shapes: dict[str, tuple[int, ...]], seed: int = 0) -> dict[str, Array]:
    """Normal float32 inputs of these shapes."""
    random = np.random.default_rng(seed)
    return {name: random.normal(size=shape).astype("float32") for name, shape in shapes.items()}


def close(got, expected: Array, tolerance: float = 1e-5) -> None:
    """Equal up to float32's rounding, relative to the largest number."""
    expected = np.asarray(expected, np.float64)
    largest = max(np.max(np.abs(expected), initial=0.0), 1e-3)
    np.testing.assert_allclose(np.array(got), expected, rtol=0, atol=tolerance * largest)


def same_gradients(
    scalar: Callable[[], object],
    variables: dict[str, keras.Variable],
    reference: Callable[[dict[str, Array]], float],
    positions: int = 12,
    tolerance: float = 5e-4,
) -> None:
    """Automatic float32 gradients equal central differences of the float64 reference.

    Every weight and input in `variables` is compared at `positions` positions or fewer. `scalar`
    equals `reference`.
    """
    values = {
        name: keras.ops.convert_to_numpy(v).astype(np.float64) for name, v in variables.items()
    }
    np.testing.assert_allclose(float(scalar()), reference(values), rtol=1e-4, atol=1e-4)
    result = gradients(scalar, list(variables.values()))
    for (name, value), automatic in zip(values.items(), result, strict=True):
        numeric = differences.gradient(
            lambda moved, name=name: reference({**values, name: moved}), value, 1e-5, positions
        )
        at = ~np.isnan(numeric)
        automatic = np.zeros(value.shape) if automatic is None else automatic
        largest = max(np.max(np.abs(numeric[at])), 1e-2)
        np.testing.assert_allclose(
            automatic[at], numeric[at], rtol=0, atol=tolerance * largest, err_msg=name
        )
