"""A sentence for TensorFlow's error of an index that a table does not have."""

import functools
import re
from collections.abc import Callable
from typing import Any

__all__ = ["explaining"]

WRONG = re.compile(r"\] = (-?\d+) is not in \[0, (\d+)\)")
NODE = re.compile(r"\{\{node (.+?)\}\}")


def explaining(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a step of `fit`, `evaluate` or `predict`, whose graph looks up ids and labels.

    No operation is added: the message of the error of TensorFlow's lookup is replaced.

    Args:
        function: callable. The step.

    Returns:
        The step, which raises a ValueError for an id or a label that is out of range.
    """

    @functools.wraps(function)
    def explained(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            message = _explanation(str(error))
            if message is None:
                raise
            raise ValueError(message) from error

    return explained


def _explanation(text: str) -> str | None:
    """Returns a sentence for the error, or None for any other error.

    Example:

    >>> _explanation("indices[2,0] = 50 is not in [0, 5)\\n [[{{node compile_loss/nll/GatherV2}}]]")
    'A label is beyond what the loss `nll` selects from: 0 to 4. Received: 50'
    """
    wrong, nodes = WRONG.search(text), NODE.findall(text)
    if wrong is None:
        return None
    value, size = int(wrong[1]), int(wrong[2])
    scopes = nodes[-1].split("/")[:-1] if nodes else []
    part = re.sub(r"_\d+$", "", scopes[-1]) if scopes else "model"
    if "compile_loss" in scopes:
        what = f"A label is beyond what the loss `{part}` selects from: 0 to {size - 1}."
    else:
        what = (
            f"An id of the inputs has no row in `{part}`: a table has the rows 0 to {size - 1}. "
            "Ids come from the preprocessor that gave the model its sizes (`model_kwargs`)."
        )
    return f"{what} Received: {value}"
