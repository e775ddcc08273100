"""Where a computation runs, and whether it has to run elsewhere too.

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
    """While it is open, layers use only what runs on every device.

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
    """Whether `portable()` is open."""
    return _depth > 0


def has_gpu() -> bool:
    """Whether Keras' backend sees a GPU."""
    return any("gpu" in str(device).lower() for device in keras.distribution.list_devices())
