"""Gradients by central differences, for comparing with automatic ones."""

from collections.abc import Callable

import numpy as np

from tests.reference.basic import Array


def gradient(
    function: Callable[[Array], float], at: Array, step: float = 1e-6, places: int | None = None
) -> Array:
    """`(f(x + h e_i) - f(x - h e_i)) / 2h` for every place i of `at`, in float64.

    With `places`, only that many places, spread evenly; the others are NaN.
    """
    at = np.array(at, np.float64)
    result = np.full(at.shape, np.nan)
    flat, out = at.reshape(-1), result.reshape(-1)
    chosen = range(flat.size)
    if places is not None and places < flat.size:
        chosen = np.unique(np.linspace(0, flat.size - 1, places).astype(int))
    for i in chosen:
        kept = flat[i]
        flat[i] = kept + step
        above = function(at)
        flat[i] = kept - step
        below = function(at)
        flat[i] = kept
        out[i] = (above - below) / (2.0 * step)
    return result
