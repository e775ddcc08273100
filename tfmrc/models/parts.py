"""Checks of replaced parts: the `build_*` methods that a subclass of a model overrides."""

import re
from collections.abc import Iterator
from types import CodeType
from typing import Any

import keras

from tfmrc.utils.arguments import nearest

__all__ = ["check_methods", "check_output", "failing_part"]

PREFIX = "build_"


def check_methods(cls: type, root: type) -> None:
    """Raises a TypeError if a class defines a `build_*` method that nothing calls.

    A method is called if a base class that is a model defines it, or if code of the class or of its
    mixins names it.

    Args:
        cls: type. A class of models.
        root: type. The base class of all models.
    """
    bases = [base for base in cls.__mro__[1:] if issubclass(base, root)]
    inherited = {inner for base in bases for inner in base.__mro__}
    known = sorted(
        {name for base in bases if base is not root for name in vars(base) if _is_part(name, root)}
    )
    own = [inner for inner in cls.__mro__ if inner not in inherited]
    added = [name for inner in own for name in vars(inner) if _is_part(name, root)]
    if not known or set(added) <= set(known):
        return
    mentioned = {name for inner in own for code in _codes(inner) for name in _names(code)}
    for name in added:
        if name in known or name in mentioned:
            continue
        similar = nearest(name, known)
        hint = f"did you mean `{similar}`?" if similar else f"it has {', '.join(known)}."
        raise TypeError(
            f"{bases[0].__name__} has no part that `{name}` would build, so nothing calls it; "
            f"{hint} Received: {cls.__name__}.{name}"
        )


def check_output(model: Any, method: str, output: Any, *shape: int | None) -> None:
    """Raises a ValueError unless an output, which a replaceable part computes, has its shape.

    Args:
        model: `Model`. The model, which may be incomplete.
        method: str. The method that creates the part.
        output: tensor. A symbolic or eager output.
        *shape: int or None. The expected sizes after the batch; None for any.
    """
    received = getattr(output, "shape", None)
    if received is not None and len(received) == 1 + len(shape):
        sizes = zip(shape, tuple(received)[1:], strict=True)
        if all(expected in (None, size) or size is None for expected, size in sizes):
            return
    cls = type(model)
    raise ValueError(
        f"The layer of `{method}` must give outputs of shape {(None, *shape)}. "
        f"Received: shape={received and tuple(received)} in {cls.__name__}"
    )


def failing_part(cls: type, arguments: dict[str, Any], error: Exception) -> str | None:
    """Finds the replaced part with which a model cannot be built, and returns the message.

    The model is built again without one replaced part at a time. The part without which it can be
    built is the one that does not fit.

    Args:
        cls: type. The class whose constructor has raised.
        arguments: dict. Its arguments.
        error: Exception. What it has raised.

    Returns:
        The message, or None if no replaced part is the reason.
    """
    replaced = dict(_replaced(cls))
    failing = [
        name
        for name, original in replaced.items()
        if _can_be_built(cls, {name: original}, arguments)
    ]
    if not failing and len(replaced) > 1 and _can_be_built(cls, replaced, arguments):
        failing = list(replaced)  # more than one of them
    if not failing:
        return None
    purpose = (replaced[failing[0]].__doc__ or "").partition("\n")[0].rstrip(".")
    purpose = f" Expected: `{failing[0]}` {purpose[0].lower()}{purpose[1:]}." if purpose else ""
    names = " or ".join(f"`{name}`" for name in failing)
    return (
        f"{cls.__name__} cannot be built with the layer of its {names}.{purpose} "
        f"Received: {type(error).__name__}: {_one_line(error)}"
    )


def _is_part(name: str, root: type) -> bool:
    return name.startswith(PREFIX) and not hasattr(root, name)


def _replaced(cls: type) -> Iterator[tuple[str, Any]]:
    """Yields the parts that a base class defines and a class below it overrides."""
    seen: dict[str, list[Any]] = {}
    for inner in cls.__mro__:
        for name, value in vars(inner).items():
            if name.startswith(PREFIX) and callable(value) and not hasattr(keras.Model, name):
                seen.setdefault(name, []).append(value)
    for name, versions in seen.items():
        if len(versions) > 1:
            yield name, versions[-1]


def _can_be_built(cls: type, originals: dict[str, Any], arguments: dict[str, Any]) -> bool:
    """Tries the constructor with the original methods of some parts."""
    try:
        type(cls.__name__, (cls,), {**originals, "_is_trial": True})(**arguments)
    except Exception:
        return False
    return True


def _codes(cls: type) -> Iterator[CodeType]:
    for value in vars(cls).values():
        inner = getattr(value, "__wrapped__", getattr(value, "__func__", value))
        inner = getattr(inner, "fget", inner)
        code = getattr(inner, "__code__", None)
        if code is not None:
            yield code


def _names(code: CodeType) -> Iterator[str]:
    """Yields all names and texts of a function's code."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _names(constant)


def _one_line(error: Exception) -> str:
    """Returns a message without colours, and without the arguments that Keras lists after it."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).partition("Arguments received by")[0]
    text = re.sub(r"Exception encountered when calling (\S+)\n", "", text)
    return " ".join(text.split())[:300]
