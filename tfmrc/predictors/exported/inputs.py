"""Conversion of Python values to the tensors of a signature."""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.utils.arguments import nearest


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
    inputs: Mapping[str, Any], specs: Iterable[tf.TensorSpec], max_passages: int | None = None
) -> list[tf.Tensor]:
    """Returns the tensors of a signature's inputs, in its order.

    Args:
        inputs: dict. For each name the values, one per example; see `array_of`.
        specs: iterable of `tf.TensorSpec`. The signature's inputs.
        max_passages: int or None. Number of passages to which rows are cut before padding.
            Default: None.

    Raises:
        RequestError: If a value has another type or shape.
    """
    return [
        tf.constant(array_of(inputs[spec.name], spec, spec.name, max_passages), spec.dtype)
        for spec in specs
    ]


def one_row(specs: Iterable[tf.TensorSpec], request: Mapping[str, Any]) -> list[tf.Tensor]:
    """Returns the tensors of one row, from a request with values of at least some inputs.

    Args:
        specs: iterable of `tf.TensorSpec`. The signature's inputs.
        request: dict. For each name at least one value; other inputs are empty, numbers -1.
    """
    specs, rows = list(specs), {}
    for spec in specs:
        empty: Any = "" if spec.dtype == tf.string else -1
        rows[spec.name] = request.get(spec.name, [empty if spec.shape.rank == 1 else []])[:1]
    return tensors_of(rows, specs)


def array_of(
    value: Any, spec: tf.TensorSpec, name: str, max_passages: int | None = None
) -> np.ndarray:
    """Returns the values of an input as an array of its type, strings as bytes.

    Args:
        value: list, or a list of lists for a matrix, of strings, of `{"b64": ...}` or of numbers;
            or an array. Rows of a matrix are cut to the model's number of passages and padded with
            empty strings or -1.
        spec: `tf.TensorSpec`. The input.
        name: str. Its name, for messages.
        max_passages: int or None. Passages that the model reads. Default: None.

    Raises:
        RequestError: If the value has another type or shape.
    """
    is_text, rank = spec.dtype == tf.string, spec.shape.rank
    try:
        values, shape = _items(value), [-1]
        if rank == 2:
            rows = [cut_passages(_items(row), max_passages) for row in values]
            shape = [len(rows), max(map(len, rows), default=0)]
            padding: list[Any] = [b"" if is_text else -1]
            values = [item for row in rows for item in [*row, *padding * (shape[1] - len(row))]]
        if is_text:
            return np.array([_bytes(text) for text in values], dtype=object).reshape(shape)
        array = np.array(values, dtype=spec.dtype.as_numpy_dtype)
        if array.ndim != 1 or (spec.dtype.is_integer and not np.array_equal(array, values)):
            raise ValueError("not [3], 3.5 or '3', which NumPy would convert")
        return array.reshape(shape)
    except (OverflowError, TypeError, ValueError) as error:
        kind = "a string" if rank == 1 else "a list of strings"
        kind = kind if is_text else f"an {spec.dtype.name}"
        raise RequestError(
            f"`{name}` must hold {kind} per row: {error}. Received: {value!r:.80}"
        ) from error


def _items(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise TypeError(f"{value!r:.80} is not a list")
    return list(value)


def _bytes(text: Any) -> bytes:
    """Returns a text of a request; a lone surrogate, which UTF-8 lacks, becomes a question mark."""
    if isinstance(text, dict) and set(text) == {"b64"}:
        return base64.b64decode(text["b64"], validate=True)
    if not isinstance(text, str | bytes):
        raise TypeError(f"{text!r:.80} is not a string")
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


def strings(texts: Iterable[str | bytes]) -> tf.Tensor:
    """Returns UTF-8 strings `[B]`."""
    return tf.constant([_bytes(text) for text in texts], tf.string)


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
