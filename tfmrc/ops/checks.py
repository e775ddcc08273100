"""Checks of shapes and indices that add no operation to a graph."""

import math

import numpy as np

from tfmrc.ops.typing import Tensor


def check_shape(name: str, x: Tensor, *expected: int | None, like: str) -> None:
    """Raises a ValueError unless the known sizes of a tensor are the expected ones.

    Sizes that are unknown while a graph is traced are not checked.

    Args:
        name: str. The argument.
        x: tensor. Its value.
        *expected: int or None. The expected size of each axis; None for any.
        like: str. The expected shape in words, for the message.

    Example:

    >>> check_shape("mask", np.ones((2, 4)), 2, 3, like="the words")
    Traceback (most recent call last):
    ...
    ValueError: `mask` must have the shape of the words, (2, 3). Received: shape=(2, 4)
    """
    received = tuple(x.shape)
    if len(received) == len(expected):
        pairs = zip(expected, received, strict=True)
        if all(wanted in (None, size) or size is None for wanted, size in pairs):
            return
    raise ValueError(
        f"`{name}` must have the shape of {like}, {expected}. Received: shape={received}"
    )


def check_indices(name: str, indices: Tensor, size: int | None, *, low: int = 0, of: str) -> None:
    """Raises a ValueError if an index is not between `low` and `size - 1`.

    Only values that are at hand are checked, outside a graph: NumPy arrays and eager tensors.

    Args:
        name: str. The argument.
        indices: tensor. Integers of any shape, perhaps as floats.
        size: int or None. Number of rows or positions; None, if unknown, checks the lower end.
        low: int. The least index. Default: 0.
        of: str. What the indices select, for the message.

    Example:

    >>> check_indices("x", np.array([[3, 12]]), 10, of="rows of the word embedding")
    Traceback (most recent call last):
    ...
    ValueError: `x` must hold rows of the word embedding from 0 to 9. Received: 12
    """
    indices = _at_hand(indices)
    if indices is None or indices.dtype.kind not in "iuf" or not indices.size:
        return
    least, greatest = int(indices.min()), int(indices.max())
    if least >= low and greatest < (math.inf if size is None else size):
        return
    last = "" if size is None else f" to {size - 1}"
    wrong = least if least < low else greatest
    raise ValueError(f"`{name}` must hold {of} from {low}{last}. Received: {wrong}")


def check_none(name: str, wrong: Tensor, *, of: str) -> None:
    """Raises a ValueError if a mask is true anywhere; outside a graph, as `check_indices`.

    Args:
        name: str. The argument.
        wrong: tensor. Boolean, of any shape.
        of: str. What is true there, for the message.

    Example:

    >>> check_none("y", np.array([[False, True]]), of="impossible targets")
    Traceback (most recent call last):
    ...
    ValueError: `y` must have no impossible targets. Received: 1 of 2
    """
    wrong = _at_hand(wrong)
    if wrong is not None and wrong.any():
        raise ValueError(f"`{name}` must have no {of}. Received: {wrong.sum()} of {wrong.size}")


def _at_hand(x: Tensor) -> np.ndarray | None:
    try:
        return np.asarray(x)
    except (NotImplementedError, TypeError, ValueError):  # symbolic, on TensorFlow, JAX and Keras
        return None
