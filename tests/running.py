"""How tests run what is too small to be worth a graph."""

from collections.abc import Iterator
from contextlib import contextmanager

import tensorflow as tf


@contextmanager
def eagerly() -> Iterator[None]:
    """Without graphs: for a few words, tracing takes longer than running."""
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)
