"""Lazy imports of a package's public names."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["lazy_imports"]


def lazy_imports(
    room: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns the `__getattr__` and `__dir__` of a package that imports its names on first use.

    TensorFlow, for instance, is then not loaded to read a YAML file or a data file.

    Args:
        room: str. Name of the package, `__name__`.
        homes: dict. Public names and the modules below the package that define them.

    Returns:
        `__getattr__` and `__dir__` for the package.

    Example:

    >>> getattribute, names = lazy_imports("tfmrc.losses", {"SequenceNLL": "sequence_nll"})
    >>> getattribute("SequenceNLL").__name__, names()
    ('SequenceNLL', ['SequenceNLL'])
    >>> getattribute("Sequence")
    Traceback (most recent call last):
    ...
    AttributeError: module 'tfmrc.losses' has no attribute 'Sequence'; it has SequenceNLL
    """

    def getattribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(
                f"module {room!r} has no attribute {name!r}; it has {', '.join(sorted(homes))}"
            )
        value = getattr(importlib.import_module(f"{room}.{homes[name]}"), name)
        setattr(sys.modules[room], name, value)
        return value

    return getattribute, lambda: sorted(homes)
