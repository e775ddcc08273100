"""pytest plugin: sets plain values of layers without asking whether they must be tracked.

A Keras layer asks this of every value that it is given, of a number or a name by fifteen questions,
some thirty times while it is built and again in each call. For plain values the answer is always
no. Small models are built and called by most of the tests:

    python -m pytest -p tests.plain_values
"""

from typing import Any

import keras
import pytest

_PLAIN = frozenset({bool, int, float, str, bytes, type(None)})

set_any_value = keras.Layer.__setattr__


def set_value(layer: keras.Layer, name: str, value: Any) -> None:
    """Sets an attribute as `keras.Layer` does."""
    if type(value) in _PLAIN and "_tracker" in layer.__dict__:
        object.__setattr__(layer, name, value)
    else:
        set_any_value(layer, name, value)


def pytest_configure(config: pytest.Config) -> None:
    keras.Layer.__setattr__ = set_value
