"""Available devices, and a context for graphs that must run on every device.

Some layers have a faster implementation that runs on one kind of device only. A graph that is
exported must not contain it, and is therefore traced inside `portable()`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import keras

CPU_INFO = Path("/proc/cpuinfo")
_depth = 0


@contextmanager
def portable() -> Iterator[None]:
    """Restricts layers to operations that run on every device.

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
    """Returns True inside a `portable()` context."""
    return _depth > 0


def has_gpu() -> bool:
    """Returns True if the Keras backend has a GPU."""
    return any("gpu" in str(device).lower() for device in keras.distribution.list_devices())


def multiplies_bfloat16() -> bool:
    """Returns True for a CPU that multiplies bfloat16 (AVX-512 BF16 or AMX), without a GPU."""
    words = cpu_info().split()
    return not {"avx512_bf16", "amx_bf16"}.isdisjoint(words) and not has_gpu()


def cpu_info() -> str:
    """Returns what Linux says about the CPU, its name and instructions; "" elsewhere."""
    try:
        return CPU_INFO.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
