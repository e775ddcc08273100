"""Checks of arguments: unknown names, with the nearest known one, and integers."""

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any

# Names of Hugging Face, and what they are called here.
ALIASES = {
    "context": "passages",
    "do_sample": "sampling",
    "doc_stride": "overlap",
    "max_answer_len": "max_length",
    "max_new_tokens": "max_length",
    "max_question_len": "question_length",
    "max_seq_len": "window_length",
    "min_new_tokens": "min_length",
    "top_k": "num_return_sequences",
}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name that is most similar to `name`, or None if none is.

    A name of Hugging Face gives the name of the same argument here.

    Example:

    >>> nearest("hidden_dimm", ["hidden_dim", "num_heads"])
    'hidden_dim'
    >>> nearest("colour", ["hidden_dim", "num_heads"]) is None
    True
    >>> nearest("do_sample", ["num_beams", "sampling"])
    'sampling'
    """
    known = list(known)
    if ALIASES.get(name) in known:
        return ALIASES[name]
    matches = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return matches[0] if matches else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """Returns the end of an error message about an unknown name: the nearest one, if it is similar.

    Example:

    >>> suggestion("mask", ["masque", "san"]), suggestion("colour", ["masque", "san"])
    ('; did you mean masque?', '.')
    """
    similar = nearest(name, known)
    return f"; did you mean {similar}?" if similar else "."


def unknown_argument(where: str, name: str, known: Iterable[str], value: object = None) -> str:
    """Returns the message for an argument that does not exist.

    Args:
        where: str. Name of the function, class or setting, such as `"Masque"` or
            `"training.optimizer"`.
        name: str. The unknown name.
        known: iterable of str. The names that exist.
        value: The given value. Default: None.

    Example:

    >>> unknown_argument("Masque", "hidden_dimm", ["hidden_dim", "num_heads"], 3)
    'Masque has no argument `hidden_dimm`; did you mean `hidden_dim`? Received: hidden_dimm=3'
    """
    known = sorted(known)
    similar = nearest(name, known)
    hint = f"did you mean `{similar}`?" if similar else f"it has {', '.join(known) or 'none'}."
    return f"{where} has no argument `{name}`; {hint} Received: {name}={value!r}"


def check_arguments(function: Callable[..., Any], given: Mapping[str, Any], where: str) -> None:
    """Raises a TypeError if a function does not take one of the given keyword arguments.

    Args:
        function: callable. A function or class; one that takes `**kwargs` accepts any name.
        given: dict. Names and values.
        where: str. Name of the function, class or setting, for the message.

    Raises:
        TypeError: If an argument does not exist; the message suggests the nearest name.

    Example:

    >>> def train(*, steps, learning_rate=0.1): ...
    >>> check_arguments(train, {"learning_rat": 0.2}, "training.optimizer")
    Traceback (most recent call last):
    ...
    TypeError: training.optimizer has no argument `learning_rat`; did you mean `learning_rate`? \
Received: learning_rat=0.2
    """
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    known = [p.name for p in parameters if p.kind in kinds and p.name != "self"]
    for name, value in given.items():
        if name not in known:
            raise TypeError(unknown_argument(where, name, known, value))


def parameters_of(cls: type) -> dict[str, inspect.Parameter]:
    """Returns the named parameters of a class, with those of the base classes for its `**kwargs`.

    Args:
        cls: class. Its constructor, and that of each base class, passes its `**kwargs` on.

    Example:

    >>> class Model:
    ...     def __init__(self, *, units=8): ...
    >>> class Narrow(Model):
    ...     def __init__(self, *, width=4, **kwargs): ...
    >>> list(parameters_of(Narrow))
    ['width', 'units']
    """
    result: dict[str, inspect.Parameter] = {}
    for base in (parent for parent in cls.__mro__ if "__init__" in vars(parent)):
        parameters = inspect.signature(base).parameters.values()
        kinds = {parameter.kind for parameter in parameters}
        for parameter in parameters:
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                result.setdefault(parameter.name, parameter)
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            break
    return result


def check_whole_numbers(least: int, **values: Any) -> None:
    """Raises a ValueError unless all values are ints (of Python or NumPy) of at least `least`.

    Example:

    >>> check_whole_numbers(1, num_beams=4, max_length=0)
    Traceback (most recent call last):
    ...
    ValueError: `max_length` must be a positive int. Received: max_length=0
    """
    for name, value in values.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            kind = {0: "a non-negative int", 1: "a positive int"}.get(least, f"an int >= {least}")
            raise ValueError(f"`{name}` must be {kind}. Received: {name}={value!r}")
