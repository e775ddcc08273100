"""Requests and replies of TensorFlow Serving's REST API as JSON values."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from tfmrc.predictors.errors import RequestError
from tfmrc.predictors.signature import SavedSignature
from tfmrc.serving.limits import Limits

__all__ = ["PredictRequest", "columns_of", "json_of", "rows_of"]


class PredictRequest:
    """A request of the predict method, in row form (`instances`) or column form (`inputs`).

    In row form an instance is an object with a value per input. If the signature has only one
    input, an instance may be the value itself; so may `inputs` in column form.

    Args:
        body: bytes. The body of the request.

    Attributes:
        signature_name: str. Name of the signature.

    Raises:
        RequestError: If it is not such a request.

    Example:

    >>> from tfmrc.serving.rest_values import PredictRequest
    >>> PredictRequest(b'{"instances": [{"question": "Who?"}]}').signature_name
    'serving_default'
    """

    def __init__(self, body: bytes):
        request = parse(body)
        if not isinstance(request, dict):
            raise RequestError('The body must be an object with "instances" or "inputs".')
        if ("instances" in request) == ("inputs" in request):
            raise RequestError('The body must hold either "instances" or "inputs".')
        name = request.get("signature_name", "")
        if not isinstance(name, str):
            raise RequestError(f'"signature_name" must be a string. Received: {name!r:.80}')
        self.signature_name = name or "serving_default"  # as in gRPC, "" is the default
        self.in_rows = "instances" in request
        self._values: Any = request["instances" if self.in_rows else "inputs"]
        if self.in_rows and not isinstance(self._values, list):
            raise RequestError('"instances" must be a list of objects.')
        if self.in_rows and not self._values:
            raise RequestError('"instances" is empty.')

    def arrays(
        self, signature: SavedSignature, limits: Limits | None = None
    ) -> dict[str, np.ndarray]:
        """Returns the arrays of the inputs.

        Args:
            signature: `SavedSignature`. The signature.
            limits: `Limits` or None. Limits of rows and of passages, also of those that the model
                does not read. Default: None.

        Raises:
            RequestError: If they do not fit the signature, or are beyond the limits.
        """
        inputs = self._inputs(signature)
        if limits is not None:
            limits.check_lists(inputs)
        return signature.arrays(inputs)

    def _inputs(self, signature: SavedSignature) -> dict[str, Any]:
        """Returns the values of each input."""
        values = self._values
        single = next(iter(signature.inputs)) if len(signature.inputs) == 1 else None
        if not self.in_rows:
            if not isinstance(values, dict) or (single is not None and set(values) == {"b64"}):
                if single is None:
                    raise RequestError('"inputs" must be an object: a list for each input.')
                values = {single: values}
            return dict(values)
        if single is not None and not any(
            isinstance(item, dict) and set(item) != {"b64"} for item in values
        ):
            return {single: values}
        if not all(isinstance(item, dict) for item in values):
            raise RequestError('"instances" must be a list of objects.')
        for item in values:
            if set(item) != set(values[0]):
                raise RequestError("All instances must have the same inputs.")
        return {name: [item[name] for item in values] for name in values[0]}

    def reply(self, outputs: Mapping[str, np.ndarray]) -> bytes:
        """Returns the body of the reply in the form of the request.

        Args:
            outputs: dict. The arrays of the outputs.
        """
        if self.in_rows:
            return json_of({"predictions": rows_of(outputs)})
        return json_of({"outputs": columns_of(outputs)})


def parse(body: bytes) -> Any:
    """Returns the value of a JSON text.

    Args:
        body: bytes. The text.

    Raises:
        RequestError: If it is not JSON (NaN and infinities are not).
    """

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is no number of JSON")

    try:
        return json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"The body is not JSON: {error}") from error


def json_of(value: Any) -> bytes:
    """Returns a value as JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def columns_of(outputs: Mapping[str, np.ndarray]) -> Any:
    """Returns outputs as nested lists; as TensorFlow Serving, a single one without its name.

    Args:
        outputs: dict. The arrays of the outputs.
    """
    columns = {name: _lists(values) for name, values in outputs.items()}
    return next(iter(columns.values())) if len(columns) == 1 else columns


def rows_of(outputs: Mapping[str, np.ndarray]) -> list[Any]:
    """Returns outputs as one object per example; as TensorFlow Serving, a single one as its value.

    Args:
        outputs: dict. The arrays of the outputs.
    """
    columns = {name: _lists(values) for name, values in outputs.items()}
    if len(columns) == 1:
        (column,) = columns.values()
        return list(column)
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _lists(values: np.ndarray) -> Any:
    if values.dtype != object:
        return values.tolist()
    strings = [value.decode("utf-8", "replace") for value in values.ravel()]
    array = np.empty(len(strings), dtype=object)
    array[:] = strings
    return array.reshape(values.shape).tolist()
