"""Characters of texts while they are normalized, and replacements of single characters."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from tfmrc.text.code_points import NUM_CODES, CodePointTable

__all__ = ["Characters", "Replacements", "neighbours"]


class Characters(NamedTuple):
    """M characters, one text after the other.

    Attributes:
        points: int32 `[M]`, code points.
        source: int32 `[M]`, the character of the caller's text that each one comes from.
        text: int32 `[M]`, the text, ascending. What is between special tokens is a text.
    """

    points: tf.Tensor
    source: tf.Tensor
    text: tf.Tensor

    def select(self, which: tf.Tensor) -> "Characters":
        """Returns the characters with the given positions, or where a mask is True."""
        if which.dtype == tf.bool:
            which = tf.where(which)[:, 0]
        return Characters(*(tf.gather(field, which) for field in self))


def neighbours(values: tf.Tensor, steps: int, fill: int | bool) -> tf.Tensor:
    """Returns for each position the value `steps` positions later; earlier, if negative.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.normalized import neighbours
        >>> print(neighbours(tf.constant([1, 2, 3]), -1, 0).numpy())
        [0 1 2]
    """
    size = tf.size(values)
    if steps < 0:
        return tf.pad(values, [[-steps, 0]], constant_values=fill)[:size]
    return tf.pad(values, [[0, steps]], constant_values=fill)[steps:]


class Replacements:
    """Replaces characters by zero or more others, each alone.

    Args:
        replacements: dict from code point to str.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.normalized import Characters, Replacements
        >>> zeros = tf.zeros([2], tf.int32)
        >>> result = Replacements({0xBD: "1/2"})(Characters([0xBD, 97], tf.range(2), zeros))
        >>> print(result.points.numpy(), result.source.numpy())
        [49 47 50 97] [0 0 0 1]
    """

    def __init__(self, replacements: Mapping[int, str]):
        counts = np.ones(NUM_CODES, np.int32)
        first = np.full(NUM_CODES, -1, np.int32)
        flat: list[int] = []
        for code, new in replacements.items():
            counts[code], first[code] = len(new), len(flat)
            flat += map(ord, new)
        self._counts, self._first = CodePointTable(counts), CodePointTable(first)
        self._flat = np.array([*flat, 0], np.int32)

    def __call__(self, characters: Characters) -> Characters:
        counts = self._counts.lookup(characters.points)
        origin = tf.repeat(tf.range(tf.size(counts)), counts)
        number = tf.range(tf.size(origin)) - tf.gather(tf.cumsum(counts) - counts, origin)
        result = characters.select(origin)
        first = self._first.lookup(result.points)
        new = tf.gather(self._flat, tf.where(first >= 0, first + number, 0))
        return result._replace(points=tf.where(first >= 0, new, result.points))
