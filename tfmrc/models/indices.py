"""Sentences for errors of a step: an index that a table does not have, labels without outputs."""

import functools
import re
from collections.abc import Callable
from typing import Any

__all__ = ["explaining"]

WRONG = re.compile(r"\] = (-?\d+) is not in \[0, (\d+)\)")
POSITIONS = re.compile(r"Expected size\[0\] in \[0, (\d+)\], but got (\d+)")
STRUCTURES = re.compile(r"different structures\.\s*y_true: (\{.*\})\s*y_pred: (\{.*\})")
NAME = re.compile(r"'(\w+)':")
NODE = re.compile(r"\{\{node (.+?)\}\}")
SHIFTED = re.compile(r"from_(\d+)")
"""Scope of a table that begins with another id than 0 (`tfmrc.layers.WordEmbedding`)."""


def explaining(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a step of `fit`, `evaluate` or `predict`, whose graph looks up ids and labels.

    No operation is added: the messages of TensorFlow's lookup and of Keras' losses are replaced.

    Args:
        function: callable. The step.

    Returns:
        The step, which raises a ValueError for an id or a label that is out of range, and for
        labels of outputs that the model lacks, and windows longer than an encoder reads.
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
    other = STRUCTURES.search(text)
    if other is not None:
        labels, outputs = (", ".join(NAME.findall(part)) for part in other.groups())
        return (
            "The labels of the dataset and the outputs of the model differ. Labels of outputs that "
            "the model lacks are left out by `dataset.map(tfmrc.training.only_outputs(model))`; "
            "compile the model again before. "
            f"Received: labels {labels}; outputs {outputs}"
        )
    wrong, nodes = WRONG.search(text), NODE.findall(text)
    long = POSITIONS.search(text)
    if long is not None and "position_embedding" in text:
        return (
            f"An encoder of the model reads {long[1]} subwords at most; a teacher must read the "
            "windows of its student. Make windows that fit (`window_length` of the preprocessor, "
            f"`length` of its encoder). Received: {long[2]} subwords"
        )
    if wrong is None:
        return None
    value, size = int(wrong[1]), int(wrong[2])
    scopes = nodes[-1].split("/")[:-1] if nodes else []
    shifted = SHIFTED.fullmatch(scopes[-1]) if scopes else None
    if shifted is not None:
        value, size = value + int(shifted[1]), size + int(shifted[1])
        scopes.pop()
    part = re.sub(r"_\d+$", "", scopes[-1]) if scopes else "model"
    if "compile_loss" in scopes:
        what = f"A label is beyond what the loss `{part}` selects from: 0 to {size - 1}."
    elif value < 0:
        what = f"An id of the inputs of `{part}` is negative: ids count from 0."
    else:
        what = (
            f"An id of the inputs has no row in `{part}`: a table has the rows 0 to {size - 1}. "
            "Ids come from the preprocessor that gave the model its sizes (`model_kwargs`)."
        )
    return f"{what} Received: {value}"
