"""Devices of a computation, and graphs that must run on every device.

Some layers have a faster form that one kind of device alone can run. A graph that leaves the
process, as an export does, must not hold it: whoever traces such a graph does so inside
`portable()`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import keras

_depth = 0


@contextmanager
def portable() -> Iterator[None]:
    """Restricts layers to what runs on every device while the context is open.

    Example:
        >>> from tfmrc.ops.portable import is_portable, portable
        >>> with portable():
        ...     is_portable()
        True
        >>> is_portable()
        False
    """
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def is_portable() -> bool:
    """Returns whether `portable()` is open."""
    return _depth > 0


def has_gpu() -> bool:
    """Returns whether the backend of Keras sees a GPU."""
    return any("gpu" in str(device).lower() for device in keras.distribution.list_devices())
