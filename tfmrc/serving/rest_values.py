"""Requests and replies of TensorFlow Serving's REST API as JSON values."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.signature import SavedSignature
from tfmrc.serving.limits import Limits

#: A string, even an unterminated one: the search is linear because it never backtracks.
TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


@dataclass(frozen=True)
class PredictRequest:
    """A request of the predict method, in row form (`instances`) or column form (`inputs`).

    In row form an instance is an object with a value per input. If the signature has only one
    input, an instance may be the value itself; so may `inputs` in column form.

    Attributes:
        signature: str. Name of the signature.
        in_rows: bool. Whether it has the row form.
        values: The instances, or the inputs.
    """

    signature: str
    in_rows: bool
    values: Any

    @classmethod
    def parse(cls, body: bytes, limits: Limits) -> "PredictRequest":
        """Reads the body of a request.

        Args:
            body: bytes. The body.
            limits: `Limits`. Limit of the number of JSON values.

        Raises:
            RequestError: If the request is invalid or too large.

        Example:

        >>> from tfmrc.serving.limits import Limits
        >>> from tfmrc.serving.rest_values import PredictRequest
        >>> PredictRequest.parse(b'{"instances": [{"question": "Who?"}]}', Limits()).signature
        'serving_default'
        """
        request = json_value(body, limits)
        if not isinstance(request, dict) or ("instances" in request) == ("inputs" in request):
            raise RequestError('The body must be an object with either "instances" or "inputs".')
        in_rows = "instances" in request
        values = request["instances" if in_rows else "inputs"]
        if in_rows and not (isinstance(values, list) and values):
            raise RequestError('"instances" must be a list with one object per example.')
        # As in gRPC, "" means the default.
        return cls(request.get("signature_name") or "serving_default", in_rows, values)

    def arrays(self, signature: SavedSignature, limits: Limits) -> dict[str, np.ndarray]:
        """Returns the arrays of the inputs.

        Args:
            signature: `SavedSignature`. The signature.
            limits: `Limits`. Limit of the elements, including passages that the model does not
                read.

        Raises:
            RequestError: If the inputs do not fit the signature, or are too large.
        """
        inputs = self._columns(list(signature.inputs))
        for name, rows in inputs.items():
            if isinstance(rows, list):
                longest = max((len(row) for row in rows if isinstance(row, list)), default=0)
                limits.check_shape(name, (len(rows), longest))
        return signature.arrays(inputs)

    def _columns(self, names: list[str]) -> dict[str, Any]:
        """Returns the values of each input."""
        values = self.values
        examples = values if self.in_rows else [values]
        objects = [example for example in examples if isinstance(example, dict)]
        if len(names) == 1 and all(set(example) == {"b64"} for example in objects):
            return {names[0]: values}
        if len(objects) < len(examples) or any(
            set(example) != set(objects[0]) for example in objects
        ):
            raise RequestError(
                'Each of "instances" must be an object with a value per input, and "inputs" an '
                f"object with a list per input. The inputs are {', '.join(names)}."
            )
        if not self.in_rows:
            return dict(values)
        return {name: [example[name] for example in values] for name in values[0]}


def json_value(body: bytes, limits: Limits) -> Any:
    """Returns the JSON value of the body of a request.

    Args:
        body: bytes. The body.
        limits: `Limits`. Limit of the number of values in it.

    Raises:
        RequestError: If it is invalid or too large.
    """
    # Counted before parsing: an empty list has two bytes in JSON and 64 in Python.
    values = body.count(b'"') // 2
    if values <= limits.elements:
        structure = TEXT.sub(b"", body)
        values = sum(map(structure.count, (b",", b"[", b"{")))
    if values > limits.elements:
        message = f"The body must have at most {limits.elements:,} values. Received: {values:,}"
        raise RequestError(message, 413, reason="size")
    try:
        return json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RequestError(f"The body is not valid JSON: {error}") from error


def reply_of(outputs: Mapping[str, np.ndarray], in_rows: bool) -> bytes:
    """Returns the body of the reply in the form of the request.

    As in TensorFlow Serving, a single output has no name.

    Args:
        outputs: dict. The arrays of the outputs.
        in_rows: bool. Whether the request has the row form.
    """
    columns = {name: _lists(values) for name, values in outputs.items()}
    single = next(iter(columns.values())) if len(columns) == 1 else None
    if not in_rows:
        return json_of({"outputs": columns if single is None else single})
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return json_of({"predictions": rows if single is None else single})


def json_of(value: Any) -> bytes:
    """Returns a value as JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _lists(values: np.ndarray) -> Any:
    if values.dtype != object:
        return values.tolist()
    texts = [value.decode("utf-8", "replace") for value in values.ravel()]
    return np.array(texts, dtype=object).reshape(values.shape).tolist()
