"""Comparing a layer with its float64 reference: values, and gradients by finite differences."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import Variable, ops

from tests.layers import weights
from tests.reference import differences
from tests.reference.basic import Array
from tfmrc.testing import gradients

Arrays = dict[str, Array]


def arrays(shapes: dict[str, tuple[int, ...]], seed: int = 0) -> Arrays:
    """Normal float32 inputs of these shapes."""
    random = np.random.default_rng(seed)
    return {name: random.normal(size=shape).astype("float32") for name, shape in shapes.items()}


def close(got, expected: Array, tolerance: float = 1e-5) -> None:
    """Equal up to float32's rounding, relative to the largest number."""
    expected = np.asarray(expected, np.float64)
    largest = max(np.max(np.abs(expected), initial=0.0), 1e-3)
    np.testing.assert_allclose(np.array(got), expected, rtol=0, atol=tolerance * largest)


class Compared:
    """A layer with large random weights, its inputs, and both as float64 arrays by name.

    `variables` are the inputs and the weights, `values` their arrays. `run` calls the layer, with
    `constants` beside the inputs; `call`, a function of the layer and the inputs, calls it in
    another way.
    """

    def __init__(
        self,
        layer: keras.Layer,
        inputs: Arrays,
        scale: float = 0.5,
        call: Callable[..., Any] | None = None,
        **constants: Any,
    ):
        self.layer, self.call, self.constants = layer, call, constants
        self.inputs = {name: Variable(a) for name, a in inputs.items()}
        self.run()
        weights.randomise(layer, scale=scale)
        trained = {n: v for n, v in weights.named(layer).items() if v.dtype == "float32"}
        self.variables = {**self.inputs, **trained}
        self.values = {
            name: ops.convert_to_numpy(v).astype(np.float64) for name, v in self.variables.items()
        }

    def run(self, **more: Any) -> Any:
        if self.call is not None:
            return self.call(self.layer, self.inputs, **more)
        return self.layer(**self.inputs, **self.constants, **more)

    def check(
        self,
        reference: Callable[[Arrays], Any],
        run: Callable[[], Any] | None = None,
        real: Any = None,
        positions: int = 12,
        tolerance: float = 1e-5,
    ) -> None:
        """Values are those of the reference, and so are the gradients of a weighted sum of them.

        Args:
            reference: From arrays by name to an output, or a list of them.
            run: What computes the outputs; None for `run`.
            real: For each output where it is compared, `[B, ..]`; None for everywhere.
            positions: At how many positions of a variable its gradient is compared.
            tolerance: Of the values.
        """
        run = self.run if run is None else run
        expected = keras.tree.flatten(reference(self.values))
        masks = [np.ones(x.shape[:1], bool) for x in expected] if real is None else real
        random = np.random.default_rng(1)
        mixes = []
        for found, right, mask in zip(keras.tree.flatten(run()), expected, masks, strict=True):
            close(np.array(found)[mask], right[mask], tolerance)
            mixes.append(np.zeros(right.shape))
            mixes[-1][mask] = random.normal(size=right[mask].shape)

        def scalar() -> Any:
            outputs = zip(keras.tree.flatten(run()), mixes, strict=True)
            return sum(ops.sum(output * mix.astype("float32")) for output, mix in outputs)

        def total(values: Arrays) -> float:
            outputs = zip(keras.tree.flatten(reference(values)), mixes, strict=True)
            return sum(float((output * mix).sum()) for output, mix in outputs)

        same_gradients(scalar, self.variables, total, positions)


def same_gradients(
    scalar: Callable[[], object],
    variables: dict[str, keras.Variable],
    reference: Callable[[Arrays], float],
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
