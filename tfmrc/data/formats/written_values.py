"""Lists and dicts that a cell of text holds, as `to_csv` of pandas writes them."""

import ast
import json
import re
import warnings
from contextlib import suppress
from itertools import pairwise
from typing import Any

# The forms that are tried: a list, a dict whose first key is quoted, an array of NumPy.
_FORM = re.compile(r"\[.*\]|\{\s*['\"].*\}|array\(.*\)", re.DOTALL)
_ANSWERS = re.compile(r"\{\s*['\"]text['\"]\s*:|array\(\[")
_TEXT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)


def written_value(text: str) -> Any:
    """Returns the list or dict that a text holds as JSON or as Python writes it.

    Arrays of NumPy within it are lists. A text of any other form is returned as it is.

    Args:
        text: str. The text of a cell.

    Raises:
        ValueError: The values of an array are not told apart, or one of answers cannot be read.

    Example:

    >>> written_value("{'text': array(['An owl'], dtype=object), 'answer_start': [0]}")
    {'text': ['An owl'], 'answer_start': [0]}
    >>> written_value("[sic] an owl"), written_value("{x}")
    ('[sic] an owl', '{x}')
    """
    stripped = text.strip()
    if not _FORM.fullmatch(stripped):
        return text
    with suppress(ValueError, RecursionError):
        return json.loads(stripped)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            value = _value(ast.parse(stripped, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if _ANSWERS.match(stripped):
            raise ValueError("the list or dict cannot be read") from None
        return text
    parts = list(_TEXT.finditer(stripped))
    if not all(stripped[a.end() : b.start()].strip() for a, b in pairwise(parts)):
        raise ValueError("an array of NumPy has no commas between its values")
    return value


def _value(node: ast.expr) -> Any:
    """Returns the value of an expression; a ValueError if it is no list, dict, text or number."""
    match node:
        case ast.Constant(value=str() | bool() | int() | float() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=values) | ast.Tuple(elts=values):
            return [_value(value) for value in values]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            names = [_value(key) for key in keys if key is not None]
            if not all(isinstance(name, str) for name in names):
                raise ValueError(names)
            return dict(zip(names, (_value(value) for value in values), strict=True))
        case ast.Name(id="nan"):
            return None
        case ast.Call(func=ast.Name(id="array"), args=[values]):
            return _value(values)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), args=[value]):  # np.int64(3)
            return _value(value)
    raise ValueError(node)
