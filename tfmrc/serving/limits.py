"""Limits of a server on requests and connections."""

import math
from dataclasses import dataclass

from tfmrc.predictors.errors import RequestError

__all__ = ["Limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the size, the duration and the number of requests.

    Attributes:
        body_bytes: int. Bytes of a request's body (REST) or message (gRPC); status 413.
            Default: 16 MiB.
        rows: int. Examples of one request; status 413. Default: 1024.
        passages: int. Passages of one example; status 413. Default: 4096.
        batch_rows: int. Examples that are computed together; a request with more of them is
            computed alone. Default: 32.
        waiting_rows: int. Examples that wait for one model; status 503. Default: 3200.
        requests: int. Requests that are processed at the same time; status 429. Default: 256.
        seconds: float. Time to process a request; status 504. Default: 60.
        receive_seconds: float. Time in which a request's body must arrive; status 408, and the
            connection is closed. Default: 20.
        drain_seconds: float. Time that running requests have to finish when the server stops.
            Default: 30.

    Example:

    >>> from tfmrc.serving import Limits
    >>> Limits(seconds=5).requests
    256
    """

    body_bytes: int = 16 * 2**20
    rows: int = 1024
    passages: int = 4096
    batch_rows: int = 32
    waiting_rows: int = 3200
    requests: int = 256
    seconds: float = 60.0
    receive_seconds: float = 20.0
    drain_seconds: float = 30.0

    def check_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Raises a RequestError if an input has too many rows or too many elements per row.

        Args:
            name: str. Name of the input.
            shape: tuple of int. Its shape, before anything of this size is built.

        Raises:
            RequestError: With status 413.
        """
        if shape and (shape[0] > self.rows or math.prod(shape[1:]) > self.passages):
            raise RequestError(
                f"`{name}` must have at most {self.rows:,} rows of at most {self.passages:,} "
                f"elements. Received: {' x '.join(map(str, shape))}",
                413,
            )
