"""Frees what models, graphs and figures leave in the memory of a process."""

import ctypes
import gc
import sys
from collections.abc import Iterator

import pytest


def release() -> None:
    """Frees graphs that nothing uses any more, Keras' global state and open figures.

    TensorFlow registers every `tf.custom_gradient` that it traces under a new name and never
    removes it. The entry holds the whole graph of the model: 20 MiB for a model with two small
    layers, again for every `fit`. The registry is private; `tests/test_memory.py` fails if it
    moves.
    """
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    if "tensorflow" in sys.modules:
        from tensorflow.python.framework import ops

        registry = ops.gradient_registry._registry
        for name in [name for name in registry if name.startswith("CustomGradient-")]:
            del registry[name]
    if "keras" in sys.modules:
        sys.modules["keras"].backend.clear_session(free_memory=False)
    gc.collect()
    if sys.platform == "linux":  # give freed memory back to the system
        ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="module", autouse=True)
def released() -> Iterator[None]:
    """Calls `release` after each module, so that a worker stays small."""
    if "keras" in sys.modules:
        sys.modules["keras"].utils.set_random_seed(0)
    yield
    release()
