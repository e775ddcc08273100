"""Frees what models, graphs and figures leave in the memory of a process."""

import ctypes
import gc
import os
import sys
from collections.abc import Iterator

import pytest

GARBAGE_MIB = 16.0
"""What modules may leave behind: to look for it takes 40 ms, half a minute after all modules."""

_size_mib = 0.0  # after garbage was collected


def resident_mib() -> float:
    """Returns the resident memory of this process; of Linux alone."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def forget() -> None:
    """Drops what libraries keep of models and figures."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    if "keras" in sys.modules:
        sys.modules["keras"].backend.clear_session(free_memory=False)


def collect() -> None:
    """Frees what is garbage, and gives the memory back to the system."""
    global _size_mib
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
        _size_mib = resident_mib()


@pytest.fixture(scope="module", autouse=True)
def released() -> Iterator[None]:
    """Calls `forget` and `collect` after each module, so that a worker stays small."""
    if "keras" in sys.modules:
        sys.modules["keras"].utils.set_random_seed(0)
    yield
    forget()
    if sys.platform != "linux" or resident_mib() > _size_mib + GARBAGE_MIB:
        collect()
