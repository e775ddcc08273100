"""How tests run what is too small to be worth a graph."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest


@contextmanager
def eagerly() -> Iterator[None]:
    """Without graphs: for a few words, tracing takes longer than running.

    The tokenizer keeps its graph, which is traced once per process and is the same for every model.
    """
    import tensorflow as tf

    from tfmrc.text.words import tokenizer

    traced = getattr(tokenizer._tokenize, "get_concrete_function", lambda: tokenizer._tokenize)()
    with mock.patch.object(tokenizer, "_tokenize", traced):
        tf.config.run_functions_eagerly(True)
        try:
            yield
        finally:
            tf.config.run_functions_eagerly(False)


@pytest.fixture(autouse=True)
def examples_without_graphs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs the examples of docstrings eagerly: each calls a model or predictor once or twice."""
    if not isinstance(request.node, pytest.DoctestItem) or "tensorflow" not in sys.modules:
        yield
        return
    with eagerly():
        yield


@pytest.fixture
def without_graphs() -> Iterator[None]:
    """Runs a test eagerly; exports are made and run as graphs all the same."""
    with eagerly():
        yield
