"""Conversion of Python values to the tensors of a signature."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfmrc.utils.arguments import nearest

__all__ = [
    "at_least_one",
    "check_names",
    "cut_passages",
    "one_row",
    "status_message",
    "tensors_of",
]


def check_names(where: str, names: Iterable[str], expected: Iterable[str]) -> None:
    """Raises if the inputs are not exactly those that a signature takes.

    Args:
        where: str. Description of the signature, for the message.
        names: iterable of str. The given names.
        expected: iterable of str. The names of the signature.

    Raises:
        ValueError: If a name is missing or unknown.
    """
    names, expected = set(names), set(expected)
    if names == expected:
        return
    hints = []
    for name in sorted(names - expected):
        similar = nearest(name, expected - names)
        hints.append(f"`{name}` is unknown" + (f"; did you mean `{similar}`?" if similar else "."))
    hints += [f"`{name}` is missing." for name in sorted(expected - names)]
    raise ValueError(
        f"{where} takes {', '.join(sorted(expected))}. {' '.join(hints)} "
        f"Received: {', '.join(sorted(names)) or 'none'}"
    )


def cut_passages(passages: Sequence[Any], most: int | None) -> Sequence[Any]:
    """Returns at most `most` passages of a row, and one more that represents those cut off.

    The additional passage lets the graph report `truncated`. It is left out if all passages that
    are cut off are empty, which means missing.

    Example:

    >>> from tfmrc.predictors.exported.inputs import cut_passages
    >>> cut_passages(["a", "b", "", "c", "d"], 2)
    ['a', 'b', 'c']
    >>> cut_passages(["a", "", ""], 2)
    ['a', '']
    """
    if most is None or len(passages) <= most:
        return passages
    return [*passages[:most], *next(([text] for text in passages[most:] if text), [])]


def tensors_of(
    inputs: Mapping[str, Sequence[Any]],
    specs: Iterable[tf.TensorSpec],
    max_passages: int | None = None,
) -> list[tf.Tensor]:
    """Returns the tensors of a signature's inputs, in its order.

    Args:
        inputs: dict. For each name the values, one per example; of a matrix one sequence per
            example, which is padded with `""` or -1.
        specs: iterable of `tf.TensorSpec`. The signature's inputs.
        max_passages: int or None. Number of passages to which rows are cut before padding.
            Default: None.

    Raises:
        TypeError: If a row of a matrix is a single text.
    """
    return [_tensor(inputs[spec.name], spec, max_passages) for spec in specs]


def one_row(specs: Iterable[tf.TensorSpec], request: Mapping[str, Any]) -> list[tf.Tensor]:
    """Returns the tensors of one row, from a request with values of at least some inputs.

    Args:
        specs: iterable of `tf.TensorSpec`. The signature's inputs.
        request: dict. For each name at least one value; other inputs are empty, numbers -1.
    """
    tensors = []
    for spec in specs:
        empty: Any = "" if spec.dtype == tf.string else -1
        other = empty if spec.shape.rank == 1 else []
        value = next(iter(request.get(spec.name, ())), other)
        tensors.append(tf.constant([value], spec.dtype))
    return tensors


def _tensor(values: Sequence[Any], spec: tf.TensorSpec, max_passages: int | None) -> tf.Tensor:
    convert = strings if spec.dtype == tf.string else np.asarray
    if spec.shape.rank == 1:
        return tf.constant(convert(values), spec.dtype)
    for row in values:
        if isinstance(row, str | bytes):
            raise TypeError(
                f"`{spec.name}` must hold a sequence of strings per example: put a single one in a "
                f"list. Received: {spec.name}={values!r:.200}"
            )
    empty: Any = "" if spec.dtype == tf.string else -1
    rows = [cut_passages(row, max_passages) for row in values]
    width = max(map(len, rows), default=0)
    flat = [value for row in rows for value in [*row, *[empty] * (width - len(row))]]
    return tf.reshape(tf.constant(convert(flat), spec.dtype), [len(rows), width])


def strings(texts: Sequence[str | bytes]) -> tf.Tensor:
    """Returns UTF-8 strings `[B]`; a lone surrogate, which UTF-8 lacks, becomes a question mark."""
    encoded = [text.encode("utf-8", "replace") if isinstance(text, str) else text for text in texts]
    return tf.constant(encoded, tf.string, [len(encoded)])


def at_least_one(passages: tf.Tensor) -> tf.Tensor:
    """Returns `[B, N]` with N of at least 1: a question without a passage has a missing one."""
    missing = tf.maximum(1 - tf.shape(passages)[1], 0)
    return tf.pad(passages, [[0, 0], [0, missing]], constant_values=tf.zeros([], passages.dtype))


def status_message(error: tf.errors.OpError) -> str:
    """Returns the message of a failed assertion, without brackets and the graph around it.

    Example:

    >>> status_message(tf.errors.InvalidArgumentError(None, None, "assertion failed: "
    ...                "[Unknown style. Received: style=] [ode haiku]\\n [[{{node Assert}}]]"))
    'Unknown style. Received: style=ode haiku'
    """
    match = re.search(
        r"assertion failed: \[(.*?)\](?:\s*\n\s*\[\[|\s*\Z)", error.message, re.DOTALL
    )
    if match:  # of a graph: texts and values, each in brackets
        return re.sub(r"(=?)\] \[", lambda end: end[1] or " ", match[1])
    match = re.search(r"Summarized data: (.*)\Z", error.message, re.DOTALL)
    if match:  # of eager code: one value per line, in the notation of bytes
        return re.sub(r"=\n", "=", re.sub(r"b(['\"])(.*?)\1", r"\2", match[1]))
    return error.message
