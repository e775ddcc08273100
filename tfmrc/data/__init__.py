"""Examples, readers of official files, splits, the shipped corpus and tf.data pipelines.

Names are imported when they are first used: reading files does not load TensorFlow.
"""

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "Example": "example",
    "ExampleStream": "stream",
    "RecordError": "stream",
    "Report": "stream",
    "Span": "example",
    "load_corpus": "corpus",
    "read_examples": "example",
    "write_examples": "example",
}

if TYPE_CHECKING:
    from tfmrc.data.corpus import load_corpus
    from tfmrc.data.example import Example, Span, read_examples, write_examples
    from tfmrc.data.stream import ExampleStream, RecordError, Report

__all__ = [
    "Example",
    "ExampleStream",
    "RecordError",
    "Report",
    "Span",
    "load_corpus",
    "read_examples",
    "write_examples",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
