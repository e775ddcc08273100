"""Attention weights and other values of a call, by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import keras

from tfmrc.ops.typing import Tensor

_found: ContextVar[dict[str, Any] | None] = ContextVar("found", default=None)


@contextmanager
def recording() -> Iterator[dict[str, Any]]:
    """Collects the values that layers hand to `record`, in a dict by name.

    Call the layers eagerly: the values of a graph are symbols.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import GatedSelfAttention
        >>> from tfmrc.layers.recording import recording
        >>> layer = GatedSelfAttention(name="self")
        >>> with recording() as found:
        ...     _ = layer(np.ones((1, 2, 4), "float32"), np.array([[True, True]]))
        >>> print(np.array(found["self"]))
        [[[0.5 0.5]
          [0.5 0.5]]]
    """
    found: dict[str, Any] = {}
    token = _found.set(found)
    try:
        yield found
    finally:
        _found.reset(token)


def record(name: str, value: Tensor) -> Tensor:
    """Returns a value, and hands it to `recording` if that is active."""
    found = _found.get()
    if found is not None:
        found[name] = value
    return value


def symbols_found() -> dict[str, Any]:
    """Returns what `recording` has so far of a functional model that is being built."""
    found = _found.get() or {}
    return {name: value for name, value in found.items() if isinstance(value, keras.KerasTensor)}
