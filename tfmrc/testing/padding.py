"""Padding and slicing of inputs whose axes have names."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import keras
import numpy as np

Nest: TypeAlias = Any
"""A tensor, array or string of axes, or dicts and lists of them at any depth."""


def paths(structure: Nest) -> dict[str, np.ndarray]:
    """Flattens `{"x": a, "memories": [b, c]}` to `{"x": a, "memories/0": b, "memories/1": c}`.

    Example:
        >>> from tfmrc.testing.padding import paths
        >>> sorted(paths({"x": 1, "memories": [2, 3]}))
        ['memories/0', 'memories/1', 'x']
    """
    return {"/".join(map(str, p)): leaf for p, leaf in keras.tree.flatten_with_path(structure)}


def map_with_axes(function, structure: Nest, axes: Nest) -> Nest:
    """Applies `function(leaf, its axes as a list of names)` to every leaf."""
    if isinstance(structure, Mapping):
        return {name: map_with_axes(function, structure[name], axes[name]) for name in structure}
    if isinstance(structure, list | tuple):
        return [
            map_with_axes(function, part, names)
            for part, names in zip(structure, axes, strict=True)
        ]
    names = axes.split()
    if len(names) != len(structure.shape):
        raise ValueError(
            "The axes of an array are names separated by spaces, one per axis. "
            f"Received: axes={axes!r}, shape={tuple(structure.shape)}"
        )
    return function(structure, names)


def pad(structure: Nest, axes: Nest, amounts: Mapping[str, int], seed: int = 0) -> Nest:
    """Pads named axes: with False for booleans, 0 for integers, noise for floats.

    Noise is used because the content of padding must not affect results.

    Example:
        >>> import numpy as np
        >>> from tfmrc.testing.padding import pad
        >>> pad({"ids": np.array([[5, 6]])}, {"ids": "B L"}, {"L": 2})["ids"].tolist()
        [[5, 6, 0, 0]]
    """
    random = np.random.default_rng(seed)

    def longer(array, names):
        array = np.asarray(array)
        shape = [n + amounts.get(name, 0) for n, name in zip(array.shape, names, strict=True)]
        if array.dtype.kind == "f":
            result = random.normal(size=shape).astype(array.dtype)
        else:
            result = np.zeros(shape, array.dtype)
        result[tuple(slice(n) for n in array.shape)] = array
        return result

    return map_with_axes(longer, structure, axes)


def cut(structure: Nest, axes: Nest, sizes: Mapping[str, int]) -> Nest:
    """Removes what `pad` added: keeps the first `sizes[name]` positions of each named axis."""
    return map_with_axes(
        lambda array, names: np.asarray(array)[tuple(slice(sizes.get(name)) for name in names)],
        structure,
        axes,
    )


def one(structure: Nest, axes: Nest, index: int, batch: str = "B") -> Nest:
    """Returns the example `index` in a batch of one."""
    return map_with_axes(
        lambda array, names: np.asarray(array)[
            tuple(slice(index, index + 1) if name == batch else slice(None) for name in names)
        ],
        structure,
        axes,
    )


def sizes(structure: Nest, axes: Nest) -> dict[str, int]:
    """Returns the size of each axis by name."""
    lengths: dict[str, int] = {}

    def note(array, names):
        lengths.update(zip(names, array.shape, strict=True))
        return array

    map_with_axes(note, structure, axes)
    return lengths


def symbolic(structure: Nest, axes: Nest | None, free: Sequence[str], path: str = "") -> Nest:
    """Returns Keras inputs of these shapes, with None for the batch and for the axes in `free`."""
    if isinstance(structure, Mapping):
        return {
            name: symbolic(part, axes and axes[name], free, f"{path}_{name}".lstrip("_"))
            for name, part in structure.items()
        }
    if isinstance(structure, list | tuple):
        return [
            symbolic(part, axes and axes[index], free, f"{path}_{index}")
            for index, part in enumerate(structure)
        ]
    array = np.asarray(structure)
    names = axes.split() if axes else ["B", *map(str, range(1, array.ndim))]
    shape = [None if name in free else n for n, name in zip(array.shape, names, strict=True)]
    return keras.Input(
        batch_shape=shape, dtype=keras.backend.standardize_dtype(array.dtype), name=path
    )
