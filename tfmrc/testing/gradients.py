"""Gradients on every backend of Keras that tfmrc supports."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np


def gradients(
    function: Callable[[], Any], variables: Sequence[keras.Variable]
) -> list[np.ndarray | None]:
    """Computes the gradients of a scalar with respect to variables, as NumPy arrays.

    On TensorFlow the function runs in a `GradientTape`, on JAX in `jax.grad`, statelessly.

    Args:
        function: callable. A function without arguments that reads the variables and returns a
            scalar.
        variables: list of `keras.Variable`. Keras variables: a layer's weights, or
            `keras.Variable(array)` for an input.

    Returns:
        For each variable an array of its shape. None where the function does not depend on it
        (TensorFlow only; JAX gives zeros).

    Example:
        >>> import keras, numpy as np
        >>> from tfmrc.testing import gradients
        >>> x = keras.Variable(np.array([1.0, 3.0]))
        >>> gradients(lambda: keras.ops.sum(x * x), [x])[0].tolist()
        [2.0, 6.0]
    """
    backend = keras.backend.backend()
    if backend == "tensorflow":
        return _tensorflow(function, variables)
    return _jax(function, variables)


def _tensorflow(function, variables):
    import tensorflow as tf

    values = [variable.value for variable in variables]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        for value in values:
            tape.watch(value)
        result = function()
    gradients = tape.gradient(result, values)
    return [None if part is None else np.array(tf.convert_to_tensor(part)) for part in gradients]


def _jax(function, variables):
    import jax

    def stateless(values):
        with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))):
            return function()

    return [np.array(part) for part in jax.grad(stateless)([v.value for v in variables])]
