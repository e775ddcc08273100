"""Lists and dicts that a cell of text holds, in JSON or as Python writes them."""

import ast
import json
import re
from contextlib import suppress
from itertools import pairwise
from typing import Any

# The forms that are tried: a list, and a dict whose first key is quoted.
_FORM = re.compile(r"\[.*\]|\{\s*['\"].*\}", re.DOTALL)
_TEXT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)


def written_value(text: str) -> Any:
    """Returns the list or dict that a text holds as JSON or as Python writes it.

    A text of any other form is returned as it is.

    Args:
        text: str. The text of a cell.

    Raises:
        ValueError: It holds an array as NumPy writes it, without commas between its values.

    Example:

    >>> written_value("{'text': ['An owl'], 'answer_start': [0]}")
    {'text': ['An owl'], 'answer_start': [0]}
    >>> written_value("[sic] an owl"), written_value("{x}")
    ('[sic] an owl', '{x}')
    """
    stripped = text.strip()
    if not _FORM.fullmatch(stripped):
        return text
    with suppress(ValueError, RecursionError):
        return json.loads(stripped)
    texts = list(_TEXT.finditer(stripped))
    if "array(" in stripped or any(
        not stripped[a.end() : b.start()].strip() for a, b in pairwise(texts)
    ):
        # Python would join texts without a comma between them.
        raise ValueError("the cell holds an array as NumPy writes it")
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.literal_eval(stripped)
    return text
