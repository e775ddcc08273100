"""Limits of a server on requests and connections."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tfmrc.predictors.errors import RequestError

__all__ = ["Limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the size, the duration and the number of requests.

    Attributes:
        body_bytes: int. Bytes of a request's body (REST) or message (gRPC); status 413.
            Default: 16 MiB.
        string_bytes: int. Bytes of one string; status 413. Default: 4 MiB.
        rows: int. Examples of one request; status 413. Default: 1024.
        passages: int. Passages of one example, and elements of any other row; status 413.
            Default: 100,000.
        requests: int. Requests that are processed at the same time; status 429. Default: 256.
        connections: int. Open connections of REST; status 503. Default: 512.
        seconds: float. Time to process a request; status 504. Default: 60.
        receive_seconds: float. Time in which a request must arrive: its head, and then its body.
            Afterwards the connection is closed (status 408 for a body). Default: 20.
        drain_seconds: float. Time that running requests have to finish when the server stops.
            Default: 30.

    Raises:
        ValueError: If a limit is not a positive number, or another one than seconds is infinite.

    Example:

    >>> from tfmrc.serving import Limits
    >>> Limits(seconds=5).requests
    256
    """

    body_bytes: int = 16 * 2**20
    string_bytes: int = 4 * 2**20
    rows: int = 1024
    passages: int = 100_000
    requests: int = 256
    connections: int = 512
    seconds: float = 60.0
    receive_seconds: float = 20.0
    drain_seconds: float = 30.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            endless = value == math.inf and not each.name.endswith("seconds")
            if not number or not value > 0 or endless:
                raise ValueError(
                    f"`{each.name}` must be a positive number. Received: {each.name}={value!r}"
                )

    def check(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Raises a RequestError if the arrays of a request are too large.

        Args:
            arrays: dict. The inputs by name; strings as bytes.

        Raises:
            RequestError: With status 413; the message names the limit.
        """
        for name, array in arrays.items():
            self.check_shape(name, array.shape)
            if array.dtype == object:
                longest = max(map(len, array.flat), default=0)
                if longest > self.string_bytes:
                    raise RequestError(
                        f"`{name}` must hold strings of at most {self.string_bytes:,} bytes. "
                        f"Received: {longest:,} bytes",
                        413,
                    )

    def check_lists(self, inputs: Mapping[str, Any]) -> None:
        """Raises a RequestError if lists have too many rows, or a row has too many elements.

        Unlike `check`, it counts the passages that the model does not read, as gRPC does.

        Args:
            inputs: dict. For each input the value of a request; a value that is no list is passed
                over.

        Raises:
            RequestError: With status 413.
        """
        for name, rows in inputs.items():
            if isinstance(rows, list):
                longest = max((len(row) for row in rows if isinstance(row, list)), default=0)
                self.check_shape(name, (len(rows), longest))

    def check_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Raises a RequestError if an input has too many rows or too many elements per row.

        Args:
            name: str. Name of the input.
            shape: tuple of int. Its shape.

        Raises:
            RequestError: With status 413.
        """
        if shape and shape[0] > self.rows:
            raise RequestError(
                f"A request must have at most {self.rows:,} rows. Received: {shape[0]:,}", 413
            )
        for size in shape[1:]:
            if size > self.passages:
                raise RequestError(
                    f"`{name}` must have at most {self.passages:,} elements per row. "
                    f"Received: {size:,}",
                    413,
                )
